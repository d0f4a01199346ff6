/**
 * Makes Node's built-in fetch choose its dispatcher now. Loading undici would otherwise put an agent of ours in that place, and every
 * `fetch()` of the whole process would go through it from then on; a guest does not do that. Import this
 * before undici: constructing a request loads the built-in, and that settles it.
 */
export const settled = new Request('http://localhost').method;
