// The vitest project of a test file follows from what the file and everything below it import. No list has to be
// kept, and a file can't stand in the wrong project.
//
//   pure     No database and no process. The files share worker processes, and a run of these alone starts no server.
//   rows     Most have a database, cloned from the migrated template of the run. The files share worker processes.
//   alone    As rows, with a worker process each: the file changes or measures its process, or needs a fresh one.
//   process  Starts processes: systems, commands, browsers, servers.

import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

export const PROJECTS = ['process', 'alone', 'rows', 'pure'] as const
export type ProjectName = (typeof PROJECTS)[number]

export interface SourceTree {
  /** The text of a file, by its path from the root of the repository; undefined where there is none. */
  read(path: string): string | undefined
}

const ROOT = resolve(import.meta.dirname, '../..')

// What the service itself does with processes is part of most tests. These files start one when they are asked to.
const STARTS_PROCESSES = /^(?:test|commands|capture-kit|bench|bootstrap|faults|hostile)\//
const DATABASE = 'test/support/database.ts'
// Where they are loaded, connections and limits for the whole process follow.
const HAVE_STATE = ['sharp', 'bullmq']
// It draws photos, from SVG. The service forbids sharp to read SVG, for its whole process.
const DRAWING = 'capture-kit/photo.ts'
// It draws when it is loaded, in a worker of `rows` before the service (test/support/photos.ts).
const DRAWN = 'test/attest/claims/phone.ts'
// It measures the memory of the process.
const MEASURING = 'test/support/flood.ts'
// A test file with one of these makes its own database, changes the worker process, or measures it.
const NEEDS_WORKER =
  /\binject\('postgresUrl'\)|\bvi\.(?:spyOn|fn|mock|doMock|stub\w+|useFakeTimers|setConfig|setSystemTime)\b|process\.(?:env\.\w+ = |chdir|memoryUsage|cpuUsage|exitCode = )/

export function readRepository(): SourceTree {
  const texts = new Map<string, string | undefined>()
  return {
    read(path) {
      if (!texts.has(path)) {
        const file = join(ROOT, path)
        texts.set(path, existsSync(file) ? readFileSync(file, 'utf8') : undefined)
      }
      return texts.get(path)
    },
  }
}

/** Every test file, by its path from the root of the repository. */
export function findTests(): string[] {
  return globSync('test/**/*.test.ts', { cwd: ROOT }).toSorted()
}

export function createProjectOf({ read }: SourceTree): (testFile: string) => ProjectName {
  const imports = new Map<string, string[]>()

  function importsOf(path: string): string[] {
    const known = imports.get(path)
    if (known !== undefined) return known
    const found = path.endsWith('.ts') ? findImports(path, read(path) ?? '') : []
    imports.set(path, found)
    return found
  }

  return (testFile) => {
    const reached = new Set([testFile])
    for (const path of reached) for (const target of importsOf(path)) reached.add(target)
    const startsProcesses = [...reached].some(
      (path) => STARTS_PROCESSES.test(path) && importsOf(path).includes('node:child_process'),
    )
    if (startsProcesses) return 'process'
    const draws = [...reached].some((path) => path !== DRAWN && importsOf(path).includes(DRAWING))
    if (draws || reached.has(MEASURING) || NEEDS_WORKER.test(read(testFile) ?? '')) return 'alone'
    return [DATABASE, ...HAVE_STATE].some((target) => reached.has(target)) ? 'rows' : 'pure'
  }
}

function findImports(path: string, text: string): string[] {
  const pattern = /^(?:import|export) (?!type )[^'"]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm
  return [...text.matchAll(pattern)].map((match) => {
    const target = match[1] ?? match[2] ?? match[3] ?? ''
    if (target.startsWith('#src/')) return target.replace('#src/', 'src/')
    return target.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(path), target)) : target
  })
}
