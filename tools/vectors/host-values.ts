// The values of vectors/canonical/values.json, which JSON can't express, in JavaScript.

import type { Json } from '#src/platform/crypto/canonical.ts'

const CYCLE: unknown[] = []
CYCLE.push(CYCLE)

const VALUES: Record<string, unknown> = {
  not_a_number: Number.NaN,
  infinity: Number.POSITIVE_INFINITY,
  minus_infinity_in_a_list: [Number.NEGATIVE_INFINITY],
  integer_2_to_53: 2 ** 53,
  integer_minus_2_to_60: -(2 ** 60),
  lone_high_surrogate: 'a\ud800',
  lone_low_surrogate_as_a_name: { '\udc00': 1 },
  nothing: undefined,
  nothing_as_a_member: { a: undefined },
  nothing_in_a_list: [undefined],
  hole_in_a_list: new Array(1),
  function: () => 1,
  date: new Date(0),
  map: new Map(),
  bytes: new Uint8Array(1),
  cycle: CYCLE,
  object_without_prototype: Object.assign(Object.create(null), { b: 1, a: null }),
}

export function makeValue(name: string): Json {
  if (!Object.hasOwn(VALUES, name)) throw new Error(`there is no value ${name}`)
  return VALUES[name] as Json
}
