// The tests reach their own servers, and the host that does not exist, without the proxy that the environment may name. npm, which
// some tests run, still uses that proxy.
const { no_proxy, NO_PROXY } = process.env;
process.env.no_proxy = [no_proxy ?? NO_PROXY, '127.0.0.1', 'strips.invalid'].filter(Boolean).join();
process.env.NO_PROXY = process.env.no_proxy;
