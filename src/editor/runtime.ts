import { readAnswer, type Answer } from './answer';

/** What the account's dialog holds; the key is "__PWRD__" where the stored one was not touched. */
export interface AccountValues {
  id: string;
  baseUrl: string;
  apiKey: string;
  timeout: string;
  tls: string;
  proxy: string;
}

/** What a deployed account knows of its strips; with `refresh` it asks the service first. */
export const deployedStrips = (account: string, refresh: boolean): Promise<Answer> =>
  ask({
    url: `strip-account/${encodeURIComponent(account)}/strips${refresh ? '?refresh=1' : ''}`,
    type: 'GET',
  });

/** Asks the service with values that need not be deployed. */
export const tryAccount = (values: AccountValues): Promise<Answer> =>
  ask({
    url: 'strip-account/test',
    type: 'POST',
    contentType: 'application/json; charset=utf-8',
    data: JSON.stringify(values),
  });

/** Never rejects. Asks by a relative address and with jQuery, because only that carries the login's token. */
function ask(request: JQuery.AjaxSettings & { url: string }): Promise<Answer> {
  return new Promise((resolve) => {
    void $.ajax({
      ...request,
      dataType: 'json',
      success: (body: unknown) => resolve(readAnswer(body) ?? trouble('unexpected')),
      error: (reply) => resolve(readAnswer(reply.responseJSON) ?? trouble(reason(reply.status))),
    });
  });
}

function reason(status: number): string {
  if (status === 0) return 'silent';
  if (status === 401 || status === 403) return 'forbidden';
  return status === 404 ? 'notDeployed' : 'unexpected';
}

const trouble = (kind: string): Answer => ({
  ok: false,
  code: '',
  key: `strip-account.trouble.${kind}`,
  params: {},
});
