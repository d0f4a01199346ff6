/** How many messages were sent, and by the number of each how often it came out or was caught. */
export interface Counted {
  sent: number;
  out: Record<number, number>;
  caught: Record<number, number>;
  codes: Record<string, number>;
}
