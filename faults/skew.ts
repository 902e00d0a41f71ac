// A clock that is off: `--import` of this file shifts what Date says by CLOCK_SKEW_MS, for one process of a fault run.
// The service does not know of it.

const skewMs = Number(process.env.CLOCK_SKEW_MS ?? 0)

globalThis.Date = new Proxy(Date, {
  construct: (real, args, newTarget) =>
    Reflect.construct(real, args.length === 0 ? [real.now() + skewMs] : args, newTarget),
  apply: (real) => new real(real.now() + skewMs).toString(),
  get: (real, key) => (key === 'now' ? () => real.now() + skewMs : Reflect.get(real, key)),
})
