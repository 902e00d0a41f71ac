// What an embedded deployment remembers between starts: its secrets and keys, in one file that only its owner reads.

import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeKey } from '#src/account/keys/format.ts'
import { newAccountId } from '#src/platform/ids.ts'

export interface DeploymentState {
  masterKey: string
  loginPassword: string
  sandboxKeys: { all: string; verify: string; attest: string }
  /** The newcomer's own account, and its sandbox key. */
  account: { id: string; key: string }
}

/** Reads the state of `directory`, made at the first call. Two first calls at once end with the same state. */
export function openState(directory: string): DeploymentState {
  mkdirSync(directory, { recursive: true })
  const file = join(resolve(directory), 'state.json')
  const existing = read(file)
  if (existing !== undefined) return existing
  const made: DeploymentState = {
    masterKey: randomBytes(32).toString('base64'),
    loginPassword: randomBytes(24).toString('base64url'),
    sandboxKeys: { all: makeKey('sandbox'), verify: makeKey('sandbox'), attest: makeKey('sandbox') },
    account: { id: newAccountId('acc'), key: makeKey('sandbox') },
  }
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, JSON.stringify(made, null, 2), { mode: 0o600 })
  renameSync(temporary, file)
  return made
}

function read(file: string): DeploymentState | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${file} can't be read; it holds the master key, so restore it from a backup.`, { cause: error })
  }
}
