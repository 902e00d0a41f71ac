/** Caches the `maxEntries` most recently used. For results that can be computed again: nothing may depend on a hit. */
export interface Lru<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
}

export function createLru<Key, Value>(maxEntries: number): Lru<Key, Value> {
  // A Map iterates in insertion order: a used entry is inserted again, so that the first one is the least recently
  // used.
  const entries = new Map<Key, Value>()
  return {
    get(key) {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      if (entries.size <= maxEntries) return
      for (const oldest of entries.keys()) {
        entries.delete(oldest)
        return
      }
    },
  }
}
