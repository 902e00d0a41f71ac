// Names of files in either Unicode form. macOS and some archives write an umlaut as a letter and a mark (NFD), tables and most
// programs as one character (NFC): two names to a file system, and one to people.

import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

export interface Names {
  /** The name itself, or the only one that differs in its form. */
  find(wanted: string): string | 'ambiguous' | undefined
}

/** The same for all forms of a name, and of the extension .json in capital letters, as some systems write it. */
export function keyOf(name: string): string {
  return name.normalize('NFC').replace(/\.json$/i, '.json')
}

export function createNames(names: readonly string[]): Names {
  const byKey = Map.groupBy(names, keyOf)
  return {
    find(wanted) {
      const found = byKey.get(keyOf(wanted)) ?? []
      return found.find((name) => name === wanted) ?? (found.length > 1 ? 'ambiguous' : found[0])
    },
  }
}

/** Finds files under a folder by names of either form. Each folder on the way is listed once. */
export function createNameSearch(base: string) {
  const listings = new Map<string, Promise<Names>>()

  function list(directory: string): Promise<Names> {
    const listed = listings.get(directory) ?? readdir(directory).then(createNames, () => createNames([]))
    listings.set(directory, listed)
    return listed
  }

  /** @param path an absolute path under the folder. */
  return async (path: string): Promise<string | 'ambiguous' | undefined> => {
    let reached = base
    for (const part of relative(base, path).split(sep)) {
      const name = (await list(reached)).find(part)
      if (name === undefined || name === 'ambiguous') return name
      reached = join(reached, name)
    }
    return reached
  }
}

export type NameSearch = ReturnType<typeof createNameSearch>
