import type { NextFunction, Request, RequestHandler, Response } from 'express';

/**
 * For every route that writes: accepts JSON only, and answers 415 to anything else before it is read. A page of another site can make a browser
 * send a form with the user's login, but not JSON.
 */
export function requireJson(request: Request, response: Response, next: NextFunction): void {
  if (request.is('application/json') === 'application/json') next();
  else response.sendStatus(415);
}

/** Answers a request with the JSON that `work` gives, and with the status `otherwise` where it gives `null`. */
export const answering =
  (otherwise: 400 | 404, work: (request: Request) => unknown): RequestHandler =>
  (request, response, next) => {
    const answer = async (): Promise<void> => {
      const result = await work(request);
      response.set('Cache-Control', 'no-store');
      if (result === null) response.sendStatus(otherwise);
      else response.json(result);
    };
    answer().catch(next);
  };
