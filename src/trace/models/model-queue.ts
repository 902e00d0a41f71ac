// The requests that wait for a model, in lanes. A lane that had its turn stands behind all others, so that a lane with a
// hundred requests delays another's by one.

export interface ModelQueue<Item extends object> {
  /** Of all lanes. */
  readonly length: number
  lengthOf(lane: string): number
  push(lane: string, item: Item): void
  /** The next one, of the lane whose turn it is. */
  shift(): Item | undefined
  /** False when it does not wait. */
  remove(item: Item): boolean
  /** Empties the queue. */
  takeAll(): Item[]
}

export function createModelQueue<Item extends object>(): ModelQueue<Item> {
  // A Map iterates in insertion order.
  const lanes = new Map<string, Item[]>()
  let length = 0

  return {
    get length() {
      return length
    },
    lengthOf: (lane) => lanes.get(lane)?.length ?? 0,
    push(lane, item) {
      const items = lanes.get(lane)
      if (items === undefined) lanes.set(lane, [item])
      else items.push(item)
      length += 1
    },
    shift() {
      for (const [lane, items] of lanes) {
        const item = items.shift()
        lanes.delete(lane)
        if (items.length > 0) lanes.set(lane, items)
        if (item !== undefined) length -= 1
        return item
      }
      return undefined
    },
    remove(item) {
      for (const [lane, items] of lanes) {
        const place = items.indexOf(item)
        if (place === -1) continue
        items.splice(place, 1)
        if (items.length === 0) lanes.delete(lane)
        length -= 1
        return true
      }
      return false
    },
    takeAll() {
      const items = [...lanes.values()].flat()
      lanes.clear()
      length = 0
      return items
    },
  }
}
