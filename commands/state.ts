// What an embedded deployment keeps between starts: its secrets and keys, in one file that only its owner can read.

import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { makeRawKey } from '#src/account/keys/format.ts'
import { newAccountId } from '#src/platform/ids.ts'

export interface DeploymentState {
  masterKey: string
  loginPassword: string
  sandboxKeys: { all: string; verify: string; attest: string }
  /** The newcomer's own account, and its sandbox key. */
  account: { id: string; key: string }
}

/** Reads the state of `directory`, created at the first call. Two concurrent first calls end with the same state. */
export function openState(directory: string): DeploymentState {
  makeDataDirectory(directory)
  const file = join(resolve(directory), 'state.json')
  const existing = read(file)
  if (existing !== undefined) return existing
  const made: DeploymentState = {
    masterKey: randomBytes(32).toString('base64'),
    loginPassword: randomBytes(24).toString('base64url'),
    sandboxKeys: { all: makeRawKey('sandbox'), verify: makeRawKey('sandbox'), attest: makeRawKey('sandbox') },
    account: { id: newAccountId('acc'), key: makeRawKey('sandbox') },
  }
  const aside = `${file}.${process.pid}`
  writeFileSync(aside, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 })
  try {
    // If two were created at once, the first is kept; a rename would replace it.
    linkSync(aside, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(aside)
  }
  return read(file) ?? made
}

/** Records where the service of this data listens, for commands that tell people its address. */
export function recordAddress(directory: string, baseUrl: string): void {
  writeFileSync(join(resolve(directory), 'address'), `${baseUrl}\n`, { mode: 0o600 })
}

/** Where it listens, or listened last; undefined before its first start. */
export function readAddress(directory: string): string | undefined {
  try {
    return readFileSync(join(resolve(directory), 'address'), 'utf8').trim() || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Makes a folder for data, closed to other users. Root leaves it open to enter, because Postgres runs as another user.
 */
export function makeDataDirectory(directory: string): void {
  if (existsSync(directory)) return
  mkdirSync(directory, { recursive: true })
  // Independent of the umask.
  chmodSync(directory, userInfo().uid === 0 ? 0o711 : 0o700)
}

function read(file: string): DeploymentState | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${file} is damaged. It holds the master key: restore it from a backup.`, { cause })
  }
}
