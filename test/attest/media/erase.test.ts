import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { acceptInteractive } from '#src/attest/claims/accept-interactive.ts'
import type { BatchLine } from '#src/attest/claims/submission.ts'
import { createEraser, type Eraser } from '#src/attest/media/erase.ts'
import { createMedia, type MediaDomain } from '#src/attest/media/media.ts'
import type { Media } from '#src/attest/media/rows.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { DiskStore } from '#src/platform/store/disk.ts'
import { renderPhoto } from '../../../capture-kit/photo.ts'
import { makeAccount, type TestDatabase } from '../../support/database.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const DAY = 24 * 3_600_000
const PHOTO = await renderPhoto({ seed: 3, width: 64, height: 48, exif: null })
const { signal } = new AbortController()

let service: TestService
let test: TestDatabase
let store: DiskStore
let eraser: Eraser
let media: MediaDomain
let scope: Scope

beforeAll(async () => {
  service = await startTestService()
  test = service.test
  store = service.store
  const feature = service.services.attest.media
  eraser = feature.eraser
  media = feature.media
})
beforeEach(async () => {
  scope = await makeAccount(test)
})
afterAll(() => service?.close())

const photo = () => Buffer.concat([PHOTO, randomBytes(16)])
const upload = (data: Uint8Array, domain = media) => domain.storeInline(scope, { contentType: 'image/jpeg', data })
/** Uploads a photo and moves its upload time to the given one. */
async function uploadAgo(ageMs: number, data = photo()): Promise<Media> {
  const then = new Date(Date.now() - ageMs)
  service.clock.now = then
  const made = await upload(data)
  service.clock.now = undefined
  await test.owner('UPDATE media SET uploaded_at = $2 WHERE id = $1', [made.id, then])
  return made
}
const daysAgo = (days: number) => new Date(Date.now() - days * DAY)
const hasFile = ({ sha256 }: Media) => existsSync(store.path(scope, sha256))
const stateOf = async ({ id }: Media) =>
  (await test.owner<{ state: string }>('SELECT state FROM media WHERE id = $1', [id]))[0]?.state

function submit(mediaId: string) {
  const line: BatchLine = { media_type: 'image', media: { media_id: mediaId } }
  return test.db.tenant(scope, (tx) => acceptInteractive(tx, scope, [line], { now: new Date() }))
}

describe('media without references', () => {
  it('is deleted, row and bytes and thumbnail, a week after its last upload', async () => {
    const [old, young, kept] = [await uploadAgo(8 * DAY), await uploadAgo(6 * DAY), await uploadAgo(8 * DAY)]
    const [thumbnail] = [await media.thumbnail(scope, old)]
    thumbnail.stream.destroy()
    await submit(kept.id)
    expect(await eraser.eraseUnreferenced(scope, daysAgo(7), signal)).toBe(1)
    expect(await Promise.all([old, young, kept].map(stateOf))).toEqual([undefined, 'stored', 'stored'])
    expect([old, young, kept].map(hasFile)).toEqual([false, true, true])
    expect(await store.storedAt(scope, old.sha256)).toBeUndefined()
    await expect(media.get(scope, old.id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is kept when its bytes were uploaded again', async () => {
    const data = photo()
    const old = await uploadAgo(8 * DAY, data)
    expect((await upload(data)).id).toBe(old.id)
    expect(await eraser.eraseUnreferenced(scope, daysAgo(7), signal)).toBe(0)
    expect(hasFile(old)).toBe(true)
  })

  it('is kept as soon as a row refers to it', async () => {
    const kept = await uploadAgo(8 * DAY)
    await submit(kept.id)
    const looks = async () => {
      const rows = await test.owner('SELECT id FROM media WHERE account_id = $1 AND NOT is_referenced', [
        scope.accountId,
      ])
      return rows.length
    }
    expect(await looks()).toBe(1)
    for (let round = 0; round < 2; round += 1) {
      expect(await eraser.eraseUnreferenced(scope, daysAgo(7), signal)).toBe(0)
      expect(await looks()).toBe(0)
    }
  })

  it('is deleted within one tenant: nothing of another account or environment', async () => {
    const mine = await uploadAgo(8 * DAY)
    const other = await makeAccount(test)
    for (const stranger of [other, { ...scope, environment: 'live' as const }]) {
      expect(await eraser.eraseUnreferenced(stranger, daysAgo(7), signal)).toBe(0)
      expect(await eraser.finishUnfinished(stranger, signal)).toBe(0)
      expect(await eraser.eraseStrays(stranger, daysAgo(0), signal)).toBe(0)
    }
    expect(hasFile(mine)).toBe(true)
  })

  it('is deleted in many steps, by several processes concurrently, each once', async () => {
    const [first] = [await uploadAgo(8 * DAY)]
    await test.owner(
      `INSERT INTO media (account_id, environment, id, sha256, size, content_type, uploaded_at)
       SELECT account_id, environment, left(id, -5) || 'u' || to_char(n, 'FM0000'), sha256(n::text::bytea), 1, content_type, uploaded_at
       FROM media, generate_series(1, 1200) AS n WHERE id = $1`,
      [first.id],
    )
    const erased = await Promise.all([1, 2, 3].map(() => eraser.eraseUnreferenced(scope, daysAgo(7), signal)))
    expect(erased.reduce((sum, one) => sum + one, 0)).toBe(1201)
    expect(await test.owner('SELECT id FROM media WHERE account_id = $1', [scope.accountId])).toEqual([])
  })

  it('is not deleted under a concurrent submission: what was accepted keeps its bytes', async () => {
    const outcomes = new Set<string>()
    for (let round = 0; round < 25; round += 1) {
      const one = await uploadAgo(8 * DAY)
      const [verdicts] = await Promise.all([
        submit(one.id).then(([verdict]) => verdict),
        eraser.eraseUnreferenced(scope, daysAgo(7), signal),
        eraser.eraseUnreferenced(scope, daysAgo(7), signal),
      ])
      const isAccepted = verdicts !== undefined && 'accepted' in verdicts
      if (!isAccepted) expect(verdicts?.errors).toMatchObject([{ pointer: '/media/media_id', code: 'not_found' }])
      expect({ state: await stateOf(one), file: hasFile(one) }).toEqual(
        isAccepted ? { state: 'stored', file: true } : { state: undefined, file: false },
      )
      outcomes.add(isAccepted ? 'accepted' : 'refused')
    }
    expect([...outcomes].length).toBeGreaterThan(0)
  })

  it('is not deleted under a concurrent upload: every returned id has its bytes', async () => {
    for (let round = 0; round < 25; round += 1) {
      const data = photo()
      await uploadAgo(8 * DAY, data)
      const answers = await Promise.allSettled([
        upload(data),
        eraser.eraseUnreferenced(scope, daysAgo(7), signal),
        upload(data),
        eraser.eraseStrays(scope, daysAgo(7), signal),
        upload(data),
      ])
      for (const answer of answers) {
        if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'service_unavailable' })
        else if (typeof answer.value !== 'number') expect(hasFile(answer.value)).toBe(true)
      }
    }
  })
})

describe('an interrupted erasure', () => {
  it('is finished by the next round, once the lease of the first has expired', async () => {
    const old = await uploadAgo(8 * DAY)
    const broken = createEraser({
      db: test.db,
      store: {
        ...store,
        delete: async () => {
          throw new Error('the power went')
        },
      },
    })
    await expect(broken.eraseUnreferenced(scope, daysAgo(7), signal)).rejects.toThrow('the power went')
    expect([await stateOf(old), hasFile(old)]).toEqual(['erasing', true])
    await expect(media.get(scope, old.id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await eraser.finishUnfinished(scope, signal)).toBe(0)
    await test.owner("UPDATE media SET erasing_since = now() - interval '6 minutes' WHERE id = $1", [old.id])
    const finished = await Promise.all([eraser.finishUnfinished(scope, signal), eraser.finishUnfinished(scope, signal)])
    expect(finished.sort()).toEqual([0, 1])
    expect([await stateOf(old), hasFile(old)]).toEqual([undefined, false])
  })

  it('refuses uploads of the same bytes until it has ended', async () => {
    const data = photo()
    const old = await uploadAgo(8 * DAY, data)
    await test.owner("UPDATE media SET state = 'erasing', erasing_since = now() - interval '6 minutes' WHERE id = $1", [
      old.id,
    ])
    await expect(upload(data)).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(await submit(old.id)).toMatchObject([{ errors: [{ code: 'not_found' }] }])
    await eraser.finishUnfinished(scope, signal)
    const fresh = await upload(data)
    expect(fresh.id).not.toBe(old.id)
    expect(hasFile(fresh)).toBe(true)
  })

  it('does not affect the other media of its round', async () => {
    const [first, second, third] = [await uploadAgo(8 * DAY), await uploadAgo(8 * DAY), await uploadAgo(8 * DAY)]
    const fragile = createEraser({
      db: test.db,
      store: {
        ...store,
        delete: async (of, sha256) => {
          if (sha256 === second.sha256) throw new Error('not this one')
          await store.delete(of, sha256)
        },
      },
    })
    await expect(fragile.eraseUnreferenced(scope, daysAgo(7), signal)).rejects.toThrow('not this one')
    expect(await Promise.all([first, second, third].map(stateOf))).toEqual([undefined, 'erasing', undefined])
  })
})

describe('bytes without a row', () => {
  async function stray(ageMs: number): Promise<Media> {
    const made = await upload(photo())
    await test.owner('DELETE FROM media WHERE id = $1', [made.id])
    const then = new Date(Date.now() - ageMs)
    await utimes(store.path(scope, made.sha256), then, then)
    return made
  }

  it('are deleted when they are old, and leave no row', async () => {
    const [old, young, owned] = [await stray(8 * DAY), await stray(6 * DAY), await uploadAgo(9 * DAY)]
    const then = daysAgo(9)
    await utimes(store.path(scope, owned.sha256), then, then)
    expect(await eraser.eraseStrays(scope, daysAgo(7), signal)).toBe(1)
    expect([old, young, owned].map(hasFile)).toEqual([false, true, true])
    expect(await test.owner('SELECT id FROM media WHERE account_id = $1', [scope.accountId])).toEqual([
      { id: owned.id },
    ])
  })

  it('are deleted also when only a thumbnail is left', async () => {
    const sha256 = randomBytes(32).toString('hex')
    await store.putVariant(scope, sha256, 'thumbnail-320', Buffer.from('small'))
    const path = `${store.path(scope, sha256)}.thumbnail-320`
    await utimes(path, daysAgo(8), daysAgo(8))
    expect(await eraser.eraseStrays(scope, daysAgo(7), signal)).toBe(1)
    expect(existsSync(path)).toBe(false)
  })

  it('are kept when they are stored anew at that moment, and the uploader is told to retry', async () => {
    const data = photo()
    const old = await upload(data)
    await test.owner('DELETE FROM media WHERE id = $1', [old.id])
    await utimes(store.path(scope, old.sha256), daysAgo(8), daysAgo(8))
    let looks = 0
    const racing = createEraser({
      db: test.db,
      store: {
        ...store,
        // A concurrent upload between the two checks of the eraser.
        async storedAt(of, sha256) {
          looks += 1
          if (looks === 2) await expect(upload(data)).rejects.toMatchObject({ code: 'service_unavailable' })
          return store.storedAt(of, sha256)
        },
      },
    })
    expect(await racing.eraseStrays(scope, daysAgo(7), signal)).toBe(0)
    expect(looks).toBe(2)
    expect(hasFile(await upload(data))).toBe(true)
  })
})

describe('an upload', () => {
  it('whose bytes were deleted between their storing and their row is not acknowledged', async () => {
    const data = photo()
    const leaky = createMedia({
      ...service.services.platform,
      ...service.services.attest.media,
      store: {
        ...store,
        async put(...args) {
          const stored = await store.put(...args)
          await store.delete(scope, stored.sha256)
          return stored
        },
      },
    })
    await expect(upload(data, leaky)).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(hasFile(await upload(data))).toBe(true)
  })
})
