import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { return503 } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { type Erasing, startErasing } from './erasing.ts'
import { shoot } from './phone.ts'

return503()

let on: Erasing
beforeAll(async () => {
  on = await startErasing()
})
afterAll(() => on?.close())

describe('an erasure that is interrupted', () => {
  it('reports that bytes can’t be erased now, and continues where it stopped', async () => {
    const photo = on.newPhoto()
    const { claim_id: id, media_id: mediaId } = await on.judged('interrupted', { photo })
    on.breakDeletes(1)
    expect((await on.erase(id)).json.code).toBe('service_unavailable')
    // The claim is closed and unreadable, but not yet erased.
    expect((await on.service.call(on.caller, `/v1/claims/${id}`)).json).toMatchObject({
      erased_at: null,
      loss_location: null,
    })
    expect((await on.download(mediaId)).status).toBe(404)
    expect(await on.filesWith(photo.subarray(-40))).toHaveLength(1)
    // The first erasure may still run, and may not delete what another caller stores after us.
    const early = await on.erase(id)
    expect([early.json.code, early.headers['retry-after']]).toEqual(['service_unavailable', '5'])
    await on.service.test.owner("UPDATE media SET erasing_since = now() - interval '6 minutes' WHERE state = 'erasing'")
    expect((await on.erase(id)).json.erased_at).toEqual(expect.any(String))
    expect(await on.filesWith(photo.subarray(-40))).toEqual([])
  })

  it('is finished by clock without another request', async () => {
    const photo = on.newPhoto()
    const { claim_id: id } = await on.judged('abandoned', { photo })
    on.breakDeletes(1)
    await on.erase(id)
    const { signal } = new AbortController()
    expect(await on.erasure.finishUnfinished(on.caller, signal)).toBe(0)
    await on.service.test.owner("UPDATE media SET erasing_since = now() - interval '6 minutes' WHERE state = 'erasing'")
    await on.service.test.owner("UPDATE claims SET erasing_since = now() - interval '6 minutes' WHERE id = $1", [id])
    const done = await Promise.all(
      [on.erasure.finishUnfinished(on.caller, signal), on.erasure.finishUnfinished(on.caller, signal)].map((one) =>
        one.catch(() => 0),
      ),
    )
    expect(Math.max(...done)).toBe(1)
    expect((await on.service.call(on.caller, `/v1/claims/${id}`)).json.erased_at).toEqual(expect.any(String))
    expect(await on.filesWith(photo.subarray(-40))).toEqual([])
  })

  it('survives a lock timeout: a comparison may hold a row that it deletes', async () => {
    const { claim_id: id, attestation_id: attestationId } = await on.judged('compared meanwhile')
    const holder = new pg.Client({ connectionString: on.service.test.ownerUrl })
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM fingerprints WHERE attestation_id = $1 FOR NO KEY UPDATE', [attestationId])
    const waitingSince = async () => {
      const [row] = await on.service.test.owner<{ since: string }>(
        `SELECT xact_start::text AS since FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'SELECT FROM fingerprints%'`,
      )
      return row?.since
    }
    const erased = on.erase(id)
    let first: string | undefined
    await until(async () => {
      first = await waitingSince()
      return first !== undefined
    })
    // Another transaction waits: the first one gave up.
    await until(async () => {
      const since = await waitingSince()
      return since !== undefined && since !== first
    })
    await holder.end()
    expect((await erased).json.erased_at).toEqual(expect.any(String))
  })

  it('concurrent with submissions of the same photo keeps an accepted photo or erases it with the claim', async () => {
    for (let round = 0; round < 6; round += 1) {
      const photo = on.newPhoto()
      const { claim_id: id, media_id: mediaId } = await on.judged(`race ${round}`, { photo })
      const submit = (reference: string) =>
        on.service.attest(on.caller, {
          ...shoot(on.phone, { photo }),
          media: { media_id: mediaId },
          claim: { reference },
        })
      const answers = await Promise.all([
        ...Array.from({ length: 4 }, (_, index) => submit(`race ${round} other ${index}`)),
        on.erase(id),
        ...Array.from({ length: 4 }, () => submit(`race ${round}`)),
        on.erase(id),
      ])
      for (const { status, text } of answers) expect([200, 202, 404, 409, 503], text).toContain(status)
      await expect.poll(async () => (await on.erase(id)).status).toBe(200)
      const rows = await on.service.test.owner<{ state: string; erased: boolean; sha256: string }>(
        `SELECT m.state, a.erased_at IS NOT NULL AS erased, encode(m.sha256, 'hex') AS sha256
         FROM attestations a JOIN media m ON m.id = a.media_id WHERE m.sha256 = sha256($1)`,
        [photo],
      )
      for (const { state, erased } of rows)
        expect({ state, erased }).toEqual({ state: erased ? 'erased' : 'stored', erased })
      const isNeeded = rows.some(({ erased }) => !erased)
      expect(await on.filesWith(photo.subarray(-40))).toHaveLength(isNeeded ? 1 : 0)
    }
  })
})
