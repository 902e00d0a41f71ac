// The batch routes as a caller sees them: the real application on a free port, with a database and a spool of its own.

import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BatchesDeps, createBatches } from '#src/attest/batches/batches.ts'
import { batchRoutes } from '#src/attest/batches/routes.ts'
import { insertResults } from '#src/attest/claims/rows.ts'
import type { Judgement } from '#src/attest/factors/judge.ts'
import { insertMedia } from '#src/attest/media/rows.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import type { TestCaller } from '../../support/callers.ts'
import { call, type TestAnswer } from '../../support/http.ts'
import { startTestService, type TestService } from '../../support/service.ts'

export type Line = Record<string, unknown>

export type Caller = TestCaller

export interface Rejected {
  line: number
  errors: { pointer: string; code: string; detail: string }[]
}

/** A batch as the API returns it. */
export interface BatchAnswer extends TestAnswer {
  json: TestAnswer['json'] & {
    batch_id: string
    accepted: number
    rejected: Rejected[]
    counts: Record<'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled', number>
    cancelled: number
  }
}

export interface ResultRow {
  line: number
  cursor: string
  is_repeat: boolean
  attestation_id: string
  status: string
}

export interface Results {
  rows: ResultRow[]
  end: { object: string; next_cursor: string | null; is_complete: boolean }
}

export type Risk = 'passed' | 'review' | 'failed'

export interface Service extends TestService {
  makeMedia(scope: Scope): Promise<string>
  /** NDJSON of values; text is sent unchanged. */
  submit(caller: Caller, lines: readonly (Line | string)[], key?: string): Promise<BatchAnswer>
  submitArray(caller: Caller, body: string): Promise<BatchAnswer>
  /** A GET, or a POST where `method` is given. */
  ask(caller: Caller, path: string, method?: string): Promise<BatchAnswer>
  results(caller: Caller, batchId: string, query?: string): Promise<Results>
  /** Gives attestations a result, as a worker does. */
  evaluate(scope: Scope, attestationIds: readonly string[], risk?: Risk): Promise<void>
  /** Files in the spool folder, including open files that were already unlinked. */
  spooled(): Promise<string[]>
}

/** A service of its own, a caller and a photo that was uploaded. */
export async function batchFixture(): Promise<{ service: Service; caller: Caller; mediaId: string }> {
  const service = await startService()
  const caller = await service.makeCaller()
  return { service, caller, mediaId: await service.makeMedia(caller) }
}

/** @param deps Parts of the feature that replace its own: the disk for bodies that have not ended, the turns of transactions. */
export async function startService(
  deps: Partial<Pick<BatchesDeps, 'spoolBudget' | 'bulkWork'>> = {},
): Promise<Service> {
  const spoolDirectory = await mkdtemp(join(tmpdir(), 'spool-'))
  const service = await startTestService({
    scopes: ['attest'],
    now: new Date(),
    replace: ({ platform }) => [
      {
        name: 'batches',
        routes: batchRoutes(createBatches({ ...platform, spoolDirectory, ...deps })),
      },
    ],
  })
  const { test, app, clock } = service

  function post(key: string, body: string, contentType: string): Promise<BatchAnswer> {
    const headers = { 'Content-Type': contentType }
    return call(app, '/v1/claims/batches', { key, body, headers }) as Promise<BatchAnswer>
  }

  return {
    ...service,
    async makeMedia(scope) {
      const media = {
        id: newId('med', scope.environment),
        sha256: randomBytes(32).toString('hex'),
        size: 1_000,
        contentType: 'image/jpeg' as const,
        width: 10,
        height: 10,
        createdAt: clock.now,
      }
      await test.db.tenant(scope, (tx) => insertMedia(tx, scope, media))
      return media.id
    },
    submit: (caller, lines, key = caller.key) => post(key, ndjson(lines), 'application/x-ndjson'),
    submitArray: (caller, body) => post(caller.key, body, 'application/json'),
    ask: (caller, path, method = 'GET') => call(app, path, { key: caller.key, method }) as Promise<BatchAnswer>,
    async results(caller, batchId, query = '') {
      const headers = { 'X-API-Key': caller.key }
      const response = await fetch(`${app.url}/v1/claims/batches/${batchId}/results${query}`, { headers })
      const text = await response.text()
      if (response.status !== 200) throw new Error(text)
      const lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      return { rows: lines.slice(0, -1), end: lines.at(-1) }
    },
    async evaluate(scope, attestationIds, risk = 'passed') {
      const judgement: Judgement = {
        provenanceStatus: 'verified',
        riskStatus: risk,
        riskScore: { passed: 0, review: 30, failed: 80 }[risk],
        factors: [],
        advisoryFactors: [],
        hardwareTier: 'none',
        observations: [],
        rulesVersion: 'test/1',
      }
      const result = {
        judgement,
        evaluatedAt: clock.now,
        resultJws: 'a.b.c',
        signerId: null,
        keyOwnerId: null,
        facts: '{}',
        policyVersion: 0,
      }
      await test.db.tenant(scope, (tx) =>
        insertResults(
          tx,
          attestationIds.map((id) => ({ id, ...result })),
        ),
      )
    },
    spooled: () => filesOpenIn(spoolDirectory),
    async close() {
      await service.close()
      await rm(spoolDirectory, { recursive: true })
    },
  }
}

export function ndjson(lines: readonly (Line | string)[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
}

/** A line that is accepted; it has no manifest, which only the evaluation reports. */
export function goodLine(mediaId: string, more: Line = {}): Line {
  return { media_type: 'image', media: { media_id: mediaId }, ...more }
}

async function filesOpenIn(directory: string): Promise<string[]> {
  const named = await readdir(directory)
  const descriptors = process.platform === 'linux' ? await readdir('/proc/self/fd') : []
  const targets = await Promise.all(descriptors.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => '')))
  return [...named, ...targets.filter((target) => target.startsWith(directory))]
}
