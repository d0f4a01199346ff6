/** Answers kept. Bounded: whoever can send messages can send any number of different texts. */
const MOST = 20_000;

/** What a function makes of texts, worked out once for each. */
export class Remembered {
  readonly #work: (text: string) => string;
  readonly #answers = new Map<string, string>();

  /** `work` depends on nothing but its text; what it throws is not remembered. */
  constructor(work: (text: string) => string) {
    this.#work = work;
  }

  get(text: string): string {
    let answer = this.#answers.get(text);
    if (answer === undefined) {
      answer = this.#work(text);
      if (this.#answers.size >= MOST) this.#answers.clear();
      this.#answers.set(text, answer);
    }
    return answer;
  }
}
