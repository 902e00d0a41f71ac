// A service with exclusion lists, whose jobs the tests run themselves.

import { expect } from 'vitest'
import { npiCheckDigit } from '#src/authorize/prescribers/check-digits.ts'
import { listSubjects } from '#src/authorize/prescribers/tier.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createLog } from '#src/platform/log.ts'
import { workOf } from '#src/services.ts'
import type { TestCaller } from '../../support/callers.ts'
import { leieFile, type Row, samFile } from '../../support/exclusion-lists.ts'
import { createJobs } from '../../support/jobs.ts'
import { startTestService } from '../../support/service.ts'

export const NOW = new Date('2026-11-20T12:00:00Z')
const LATER = '2099-06-30T00:00:00.000Z'
export const LISTS = '/v1/clinical/exclusion-lists'
export const IMPORTS = '/v1/clinical/exclusion-imports'
export const REVIEWS = '/v1/clinical/exclusion-reviews'
export const SCREENINGS = '/v1/clinical/exclusion-screenings'
/** Rows that match nobody. */
export const OTHERS: Row[] = Array.from({ length: 8 }, (_, index) => ({
  ...{ LASTNAME: `OTHER${index}`, FIRSTNAME: 'SOMEBODY', EXCLDATE: `20${10 + index}0101` },
}))
export type Json = Record<string, unknown>
type ListName = 'leie' | 'sam'

export type ExclusionService = Awaited<ReturnType<typeof startExclusions>>

export async function startExclusions(env: NodeJS.ProcessEnv = {}) {
  const lines: string[] = []
  const service = await startTestService({
    now: NOW,
    env,
    overrides: () => ({
      log: createLog({ process: 'web', level: 'debug' }, { write: (text) => void lines.push(text) }),
    }),
  })
  const jobs = createJobs(service.test, 'exclusions')
  const work = workOf(service.services, 'exclusions')
  const feature = service.services.authorize.exclusions
  let npis = 0
  const get = async (caller: TestCaller, path: string) => (await service.call(caller, path)).json as Json

  async function upload(caller: TestCaller, list: ListName, bytes: Uint8Array, query: Json = {}): Promise<Json> {
    // Ids and changes have the order of their times.
    service.clock.now = new Date(service.clock.now.getTime() + 1)
    const search = new URLSearchParams(query as Record<string, string>)
    const sent = { method: 'POST', body: bytes, headers: { 'Content-Type': 'text/csv' } }
    const answer = await service.call(caller, `${LISTS}/${list}/import?${search}`, sent)
    expect(answer).toMatchObject({ status: 202, json: { status: 'queued' } })
    return answer.json as Json
  }

  /** Uploads a file, runs its import and the screening after it, and returns the import. */
  async function importFile(caller: TestCaller, list: ListName, bytes: Uint8Array, query: Json = {}): Promise<Json> {
    const { exclusion_import_id: id } = await upload(caller, list, bytes, query)
    await jobs.drain(work, caller)
    return get(caller, `${IMPORTS}/${id}?wait=1`)
  }

  async function check(scope: Scope, id: string, { at = NOW, state }: { at?: Date; state?: string } = {}) {
    return service.test.db.tenant(scope, async (tx) => {
      const subjects = await listSubjects(tx, { ...scope, after: undefined, limit: 100 })
      return (await feature.exclusions.check(tx, scope, { at, state }, subjects)).get(id)
    })
  }

  return {
    ...{ service, jobs, work, feature, lines, get, upload, importFile, check },
    owner: (sql: string, values: unknown[] = []) => service.test.owner<Json>(sql, values),
    dataOf: async (caller: TestCaller, path: string) => (await get(caller, path)).data as Json[],
    importLeie: (caller: TestCaller, rows: Row[], query: Json = {}) =>
      importFile(caller, 'leie', leieFile([...OTHERS, ...rows]), query),
    importSam: (caller: TestCaller, rows: Row[]) =>
      importFile(caller, 'sam', samFile([{ Name: 'EXAMPLE LLC' }, ...rows]), {
        file_name: 'SAM_Exclusions_Public_Extract_V2_26324.CSV',
      }),

    /** A prescriber of the account. */
    async enter(caller: TestCaller, person: Json = {}): Promise<{ id: string; npi: string }> {
      npis += 1
      const nine = `1${String(npis).padStart(8, '0')}`
      const npi = nine + npiCheckDigit(nine)
      const { userId } = await service.signIn(caller.accountId, { role: 'approver' })
      const json = {
        ...{ user_id: userId, npi, first: 'Robin', last: 'Quorvex', dob: '1971-03-09' },
        state_licenses: [{ us_state: 'NV', number: 'A1', expires_at: LATER }],
        ...person,
      }
      const answer = await service.call(caller, '/v1/clinical/prescribers', { method: 'POST', json })
      expect(answer).toMatchObject({ status: 200 })
      return { id: (answer.json as { prescriber_id: string }).prescriber_id, npi }
    },
    statusOf: async (scope: Scope, id: string, options = {}) => (await check(scope, id, options))?.status,
    close: () => service.close(),
  }
}
