// A key that lacks a scope, or that only reads, gets no tool that the service would refuse. The service says what the key may do.

import { CountersignError } from '../../../typescript/src/core/errors.ts'
import type { Selection } from '../tools/catalog.ts'
import type { Caller } from './caller.ts'

export interface CredentialOptions {
  options: Selection
  caller: Caller
  /** Tells people of a service that does not answer. */
  say(line: string): void
}

/** The selection narrowed to what the key may do. `--scopes` says it without the service. */
export async function readCredential({ options, caller, say }: CredentialOptions): Promise<Selection> {
  if (options.scopes !== undefined) return options
  try {
    const { scopes, read_only: isReadOnly } = await caller.get('/v1/auth/session')
    const known = Array.isArray(scopes) && !scopes.includes('all') ? (scopes as string[]) : undefined
    return { ...options, scopes: known, isReadOnly: options.isReadOnly || isReadOnly === true }
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error
    // A host often starts its servers before the network is there.
    say(`the scopes of the key are unknown (${error.code}), so all tools are offered`)
    return options
  }
}
