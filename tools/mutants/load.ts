// Loads a module with one changed file below it, beside the module as it is: everything between the two is loaded anew under a
// name of its own, and everything else is shared.

import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = resolve(import.meta.dirname, '../..')
const MARK = 'mutant'

export interface MutantLoader extends Disposable {
  /** The module with `source` in place of the file's text. */
  load<Module>(source: string): Promise<Module>
}

let loaders = 0

/** @param entry The module; @param file The file below it that changes. Both from the root of the repository. */
export function createMutantLoader(entry: string, file: string): MutantLoader {
  const between = findBetween(entry, file)
  if (!between.has(entry)) throw new Error(`${entry} does not import ${file}`)
  loaders += 1
  const name = `${loaders}`
  let count = 0
  let current = ''

  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const mark = markOf(context.parentURL)
      if (mark?.startsWith(`${name}.`) !== true || !between.has(pathOf(resolved.url))) return resolved
      return { ...resolved, url: `${resolved.url}?${MARK}=${mark}` }
    },
    load(url, context, next) {
      if (markOf(url)?.startsWith(`${name}.`) !== true || pathOf(url) !== file) return next(url, context)
      return { format: 'module-typescript', source: current, shortCircuit: true }
    },
  })

  return {
    async load(source) {
      current = source
      count += 1
      return import(`${pathToFileURL(resolve(ROOT, entry)).href}?${MARK}=${name}.${count}`)
    },
    [Symbol.dispose]() {
      hooks.deregister()
    },
  }
}

function markOf(url: string | undefined): string | null {
  return url?.startsWith('file:') ? new URL(url).searchParams.get(MARK) : null
}

function pathOf(url: string): string {
  return url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url
}

/** The file, and the files from the entry on that import it, by whatever way. */
function findBetween(entry: string, file: string): Set<string> {
  const importsOf = new Map<string, string[]>()
  const queue = [entry]
  for (const path of queue) {
    if (importsOf.has(path)) continue
    const imports = path === file ? [] : findImports(path)
    importsOf.set(path, imports)
    queue.push(...imports)
  }
  const between = new Set([file])
  for (let size = 0; size < between.size; ) {
    size = between.size
    for (const [path, imports] of importsOf) if (imports.some((one) => between.has(one))) between.add(path)
  }
  return between
}

function findImports(path: string): string[] {
  const text = readFileSync(resolve(ROOT, path), 'utf8')
  const found = [
    ...text.matchAll(/^(?:import|export|\}) (?!type )[^'\n]*?from '([^']+\.ts)'|\bimport\('([^']+\.ts)'\)/gm),
  ]
  return found.map(([, from, dynamic]) => {
    const specifier = from ?? dynamic ?? ''
    if (specifier.startsWith('#src/')) return specifier.slice(1)
    if (specifier.startsWith('#client/')) return specifier.replace('#client/', 'clients/typescript/src/')
    return relative(ROOT, resolve(ROOT, dirname(path), specifier))
  })
}
