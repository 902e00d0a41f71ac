// The source of a command's API key. On the command line every user of the machine can read it.

import { readFileSync, statSync } from 'node:fs'
import { usageError } from './sentence.ts'

/** The environment variable with the key, for commands that call a service. */
export const KEY_VARIABLE = 'COUNTERSIGN_KEY'

interface KeySources {
  /** The option's name, without hyphens: `key`, with `key-file` beside it. */
  option: string
  value: string | undefined
  file: string | undefined
  /** Used when neither is given. */
  fallback?: string | undefined
}

/** undefined: none is given. @throws a usage error. */
export function readKey({ option, value, file, fallback }: KeySources): string | undefined {
  if (value !== undefined && file !== undefined) throw usageError(`Either --${option} or --${option}-file.`)
  const key = (file === undefined ? (value ?? fallback) : readKeyFile(`--${option}-file`, file))?.trim()
  if (key === undefined || key === '') return undefined
  if (!/^[\x21-\x7e]{1,200}$/.test(key)) throw usageError('The key has spaces or characters that no key has.')
  return key
}

function readKeyFile(option: string, file: string): string {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw usageError(`${option}: ${file} is not a file.`)
  return readFileSync(file, 'utf8')
}
