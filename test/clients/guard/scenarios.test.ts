// Every scenario of guard in each language, against the running service: what ran, what the journal keeps, and what the ledger and
// the budget of the mandate say.

import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Countersign } from '#client/countersign.ts'
import { fileJournal, resumeGuards } from '#client/guard.ts'
import { describePythons, environment, PACKAGE } from '../../support/python.ts'
import { type SignedIn, startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type Open, type Player, SCENARIOS, type Scenario, type Task } from './scenarios.ts'

const DAY_MS = 86_400_000

let service: TestService
let client: Countersign
let apiKey: string
let accountId: string
let approver: SignedIn
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'guard-'))
  service = await startTestService()
  const caller = await service.makeCaller()
  accountId = caller.accountId
  apiKey = caller.key
  approver = await service.signIn(accountId, { role: 'approver' })
  client = new Countersign({ baseUrl: service.app.url, apiKey })
  const when = { field: 'action_payload.amount', op: 'gt', value: 50 }
  const document = { rules: [{ id: 'over-50', when, require: { approval: {} } }] }
  await client.policy.update({ ifMatch: '*', document })
})
afterAll(async () => {
  await service?.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('guard in TypeScript', () => {
  const player: Player = { guard: guardTypeScript, resume: resumeTypeScript }
  runs('typescript', () => player)
})

describePythons('guard', (python, { isNewest, isOnly }) => {
  let players: ReturnType<typeof startPlayers>
  beforeAll(() => {
    players = startPlayers(python)
  })
  afterAll(() => players.close())
  // Each version runs one of the clients.
  if (isOnly || !isNewest) describe('Countersign', () => runs('python', () => players.sync, 'outcomeInPython'))
  if (isNewest) describe('AsyncCountersign', () => runs('python-async', () => players.async, 'outcomeInPython'))
})

function runs(language: string, playerOf: () => Player, outcomeName?: 'outcomeInPython'): void {
  it.concurrent.each(SCENARIOS.map((scenario) => [scenario.title, scenario] as const))(
    '%s',
    async (_title, scenario) => {
      const player = playerOf()
      const task = await taskOf(scenario, `${language}-${scenario.id}`)
      const [outcome] = await Promise.all([player.guard(task), letPeopleDecide(task)])
      const hasJournal = task.journalPath !== null && existsSync(task.journalPath)
      if (hasJournal) checkJournal(task)
      const open = hasJournal ? await player.resume(task) : [0, 0]
      const [spent, tokens] = await Promise.all([spentOf(task), tokensOf(task)])
      const ran = linesOf(task, 'effects')
      const told = linesOf(task, 'told')
      const executed = tokens.filter(({ executed_at: at }) => at !== null)
      const status = executed[0] === undefined ? null : (executed[0].outcome ?? 'executed')
      // The second restart found what the first one left.
      expect({ outcome, ran, told, status, spent, open }).toEqual({
        ...scenario.expect,
        outcome: (outcomeName && scenario[outcomeName]) ?? scenario.expect.outcome,
        open: [scenario.expect.open, scenario.expect.open],
      })
      // The ledger agrees: one entry for each outcome.
      const reported = executed.flatMap(({ jti, outcome: reason }) => (reason === null ? [] : [`${jti} ${reason}`]))
      const entries = await service.entries({ accountId }, 'outcome')
      const own = entries.filter(({ subject_id: subject }) => tokens.some(({ jti }) => jti === subject))
      expect(own.map(({ subject_id: subject, reason }) => `${subject} ${reason}`).sort()).toEqual(reported.sort())
    },
  )
}

async function taskOf(scenario: Scenario, name: string): Promise<Task> {
  const { id, people, journal } = scenario
  const { mandateId } = await client.mandates.create({
    principal: 'buying@example.com',
    description: id,
    budget: { limit: '1000', currency: 'EUR', period: 'total' },
    expiresAt: new Date(Date.now() + 30 * DAY_MS).toISOString(),
  })
  mkdirSync(join(folder, name))
  const amount = people === undefined ? '10' : '80'
  return {
    scenario,
    folder: join(folder, name),
    journalPath: journal === 'none' ? null : join(folder, name, journal === 'unwritable' ? 'none/journal' : 'journal'),
    baseUrl: service.app.url,
    apiKey,
    options: {
      action: `Pay ${amount} EUR`,
      payload: { amount, currency: 'EUR', counterparty: 'Example Garage' },
      agentSessionId: name,
      deviceId: 'laptop-4',
      mandateId,
      ...(people === 'ignore' && { approvalTimeoutMs: 1_000 }),
    },
  }
}

async function letPeopleDecide({ scenario: { people }, options: { agentSessionId } }: Task): Promise<void> {
  if (people === undefined || people === 'ignore') return
  const find = async () => (await client.approvals.list({ agentSessionId }).page()).data[0]
  await until(async () => (await find()) !== undefined, { what: 'an approval opens' })
  const { approvalId, jti } = (await find()) ?? { approvalId: '', jti: '' }
  if (people === 'revoke') {
    await client.intent.revocations.create({ scope: 'token', jti, reason: 'lost' })
    return
  }
  const [act, json] = people === 'grant' ? ['approve', {}] : ['deny', { reason: 'too much' }]
  const { status } = await service.call({}, `/v1/approvals/${approvalId}/${act}`, {
    method: 'POST',
    json,
    headers: { ...approver.headers, 'Service-Environment': 'sandbox' },
  })
  expect(status).toBe(200)
}

function guardTypeScript(task: Task): Promise<string> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'player.ts'), JSON.stringify(task)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
    })
    child.on('close', (_code, signal) => done(signal === 'SIGKILL' ? 'killed' : printed))
  })
}

async function resumeTypeScript({ scenario: { onUnknown }, folder: own, journalPath }: Task): Promise<Open> {
  const journal = fileJournal(journalPath ?? '')
  const resume = async () => {
    const resumed = resumeGuards(client, journal, ({ jti }) => {
      appendFileSync(join(own, 'told'), `${jti}\n`)
      if (onUnknown === 'throws') throw new Error('nobody answers')
      return onUnknown
    })
    await resumed.catch((error: Error) => expect(error.message).toBe('nobody answers'))
    return new Set((await journal.read()).map(({ jti }) => jti)).size
  }
  const open: Open = [await resume(), await resume()]
  await journal.close()
  return open
}

function startPlayers(python: string): { sync: Player; async: Player; close(): Promise<void> } {
  const child = spawn(python, [join(PACKAGE, 'tests/guard_player.py')], {
    env: environment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<number, (played: unknown) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, played } = JSON.parse(line) as { id: number; played: unknown }
    waiting.get(id)?.(played)
  })
  const ended = new Promise<void>((done) => child.on('close', () => done()))
  const play = <Given>(task: Task & { do: string; flavour: string }) =>
    new Promise<Given>((done) => {
      const id = waiting.size
      waiting.set(id, done as (played: unknown) => void)
      child.stdin.write(`${JSON.stringify({ ...task, id })}\n`)
    })
  const playerOf = (flavour: string): Player => ({
    guard: (task) => play({ ...task, do: 'guard', flavour }),
    resume: (task) => play({ ...task, do: 'resume', flavour }),
  })
  return {
    sync: playerOf('sync'),
    async: playerOf('async'),
    async close() {
      child.stdin.end()
      await ended
    },
  }
}

/** What it notes must let nobody act, and say nothing of the action. */
function checkJournal({ journalPath, apiKey: key, options: { action, payload } }: Task): void {
  const text = readFileSync(journalPath ?? '', 'utf8')
  for (const secret of [key, 'eyJ', action, String(payload.counterparty)]) expect(text).not.toContain(secret)
}

async function spentOf({ options: { mandateId = '' } }: Task): Promise<number> {
  const { remaining } = await client.mandates.retrieve(mandateId)
  return 1_000 - Number(remaining)
}

function tokensOf({ options }: Task): Promise<{ jti: string; outcome: string | null; executed_at: Date | null }[]> {
  const query = 'SELECT jti, outcome, executed_at FROM intents WHERE account_id = $1 AND agent_session_id = $2'
  return service.test.owner(query, [accountId, options.agentSessionId])
}

function linesOf({ folder: own }: Task, name: string): number {
  const path = join(own, name)
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0
}
