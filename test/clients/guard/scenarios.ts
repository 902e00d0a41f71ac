// The scenarios of clients/guard-scenarios.json, and what the players of each language get and give.

import type { GuardOptions, Outcome } from '#client/guard.ts'
import table from '../../../clients/guard-scenarios.json' with { type: 'json' }

export interface Scenario {
  id: string
  title: string
  people?: 'grant' | 'deny' | 'revoke' | 'ignore'
  run?: 'succeeds' | 'fails' | 'not_executed' | 'error'
  stop?: { at: string; by: 'kill' | 'abort' }
  fails?: string
  lost?: boolean
  unreachable?: boolean
  journal?: 'none' | 'unwritable'
  calls?: number
  key?: boolean
  onUnknown?: Outcome | 'throws'
  expect: Expectation
  outcomeInPython?: string
}

export interface Expectation {
  outcome: string
  ran: number
  told: number
  status: string | null
  spent: number
  open: number
}

export interface Task {
  scenario: Scenario
  /** Folder of the files `effects` and `told`, which have a line for each effect and each call of onUnknown. */
  folder: string
  /** null: without a journal. */
  journalPath: string | null
  baseUrl: string
  apiKey: string
  options: Omit<GuardOptions, 'journal' | 'now' | 'onUnknown' | 'signal'>
}

/** Numbers of actions that stay in the journal after each of two restarts. */
export type Open = [number, number]

export interface Player {
  /** Resolves to the outcome as the table has it. */
  guard(task: Task): Promise<string>
  resume(task: Task): Promise<Open>
}

export const SCENARIOS = table.scenarios as readonly Scenario[]
