// Byte pair encoding of one piece: the pair of neighbours that comes first in the model's list is merged, the left one of
// equal pairs first, until none is in the list. With a heap, so that a piece of a hundred thousand letters takes
// n log n steps and not n squared.

interface Candidate {
  rank: number
  /** Places of the symbols; `text` is what they were when the pair was found, since either may have been merged since. */
  left: number
  right: number
  text: string
}

/** @param rankOf Of the two symbols with a space between them; undefined where they are not merged. */
export function mergePairs(symbols: string[], rankOf: (pair: string) => number | undefined): string[] {
  const parts = [...symbols]
  const before = parts.map((_, index) => index - 1)
  const after = parts.map((_, index) => index + 1)
  const heap = createHeap()

  function consider(left: number, right: number): void {
    const [one, other] = [parts[left], parts[right]]
    if (one === undefined || other === undefined) return
    const rank = rankOf(`${one} ${other}`)
    if (rank !== undefined) heap.push({ rank, left, right, text: one + other })
  }

  for (let index = 1; index < parts.length; index += 1) consider(index - 1, index)
  for (let best = heap.pop(); best !== undefined; best = heap.pop()) {
    const { left, right, text } = best
    if (parts[left] === '' || parts[right] === '' || `${parts[left]}${parts[right]}` !== text) continue
    if (after[left] !== right) continue
    parts[left] = text
    parts[right] = ''
    const next = after[right] ?? parts.length
    after[left] = next
    if (next < parts.length) before[next] = left
    consider(before[left] ?? -1, left)
    consider(left, next)
  }
  return parts.filter((part) => part !== '')
}

function createHeap() {
  const items: Candidate[] = []
  const isLess = (one: Candidate, other: Candidate) =>
    one.rank < other.rank || (one.rank === other.rank && one.left < other.left)

  function push(item: Candidate): void {
    let at = items.push(item) - 1
    while (at > 0) {
      const up = (at - 1) >> 1
      const parent = items[up]
      if (parent === undefined || !isLess(item, parent)) break
      items[at] = parent
      at = up
    }
    items[at] = item
  }

  function pop(): Candidate | undefined {
    const first = items[0]
    const last = items.pop()
    if (first === undefined || last === undefined || items.length === 0) return first
    let at = 0
    for (;;) {
      const left = at * 2 + 1
      const [one, other] = [items[left], items[left + 1]]
      if (one === undefined) break
      const [child, place] = other !== undefined && isLess(other, one) ? [other, left + 1] : [one, left]
      if (!isLess(child, last)) break
      items[at] = child
      at = place
    }
    items[at] = last
    return first
  }

  return { push, pop }
}
