/** What a function makes of texts, worked out once for each. */
export class Remembered {
  readonly #most: number;
  readonly #work: (text: string) => string;
  readonly #answers = new Map<string, string>();

  /**
   * `most` answers are kept: whoever can send messages can send any number of different texts. `work` depends on nothing but its text; what
   * it throws is not remembered.
   */
  constructor(most: number, work: (text: string) => string) {
    this.#most = most;
    this.#work = work;
  }

  get(text: string): string {
    let answer = this.#answers.get(text);
    if (answer === undefined) {
      answer = this.#work(text);
      if (this.#answers.size >= this.#most) this.#answers.clear();
      this.#answers.set(text, answer);
    }
    return answer;
  }
}
