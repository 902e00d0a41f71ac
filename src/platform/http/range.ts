// RFC 9110 section 14: one range of bytes. Multiple ranges, other units and invalid values are ignored, as the RFC
// allows.

export type RangeAnswer = { kind: 'whole' } | { kind: 'part'; first: number; last: number } | { kind: 'unsatisfiable' }

const RANGE = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i

/** @param size of the whole representation in bytes. */
export function parseRange(header: string | undefined, size: number): RangeAnswer {
  const [, from, to] = RANGE.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return { kind: 'whole' }
  if (from === '') {
    const suffix = Math.min(Number(to), size)
    return suffix === 0 ? { kind: 'unsatisfiable' } : { kind: 'part', first: size - suffix, last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  // A last position before the first makes the header invalid, not unsatisfiable.
  if (to !== '' && Number(to) < first) return { kind: 'whole' }
  return first >= size ? { kind: 'unsatisfiable' } : { kind: 'part', first, last }
}
