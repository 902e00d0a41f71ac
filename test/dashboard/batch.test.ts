// A folder of photos is uploaded in a real browser; the tab is closed in the middle, and the same folder goes on in another.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withExif } from '../../capture-kit/photo.ts'
import { CAMERAS } from '../../capture-kit/stock.ts'
import { PHOTO } from '../attest/claims/phone.ts'
import type { TestCaller } from '../support/callers.ts'
import { type Dashboard, findInaccessible, hasChromium, startDashboard } from '../support/dashboard.ts'
import { createJobs } from '../support/jobs.ts'

const PHOTOS = 60
const FILES = PHOTOS + 2
// Two fifths of them.
const SENT_FIRST = 24
const LARGE_BYTES = 20_000_000

describe.skipIf(!hasChromium)('the upload of a folder (skipped where there is no Chromium)', () => {
  let dashboard: Dashboard
  let caller: TestCaller
  let folder: string
  beforeAll(async () => {
    dashboard = await startDashboard({ scopes: ['attest', 'verify'] })
    caller = await dashboard.service.makeCaller()
    folder = join(mkdtempSync(join(tmpdir(), 'folder-')), 'photos')
    mkdirSync(folder)
    for (let index = 1; index <= PHOTOS; index += 1) {
      const exif = {
        camera: CAMERAS[0],
        takenAt: new Date(),
        utcOffsetMinutes: 60,
        hasOffset: true,
        exposureSeconds: 0.01,
      }
      const photo = withExif(PHOTO, { ...exif, iso: 100 + index })
      // Readers of JPEG ignore what follows the image.
      const padding = Buffer.alloc(index === PHOTOS ? LARGE_BYTES : 0)
      writeFileSync(join(folder, `claim-${index}.jpg`), Buffer.concat([photo, padding]))
    }
    writeFileSync(join(folder, 'broken.jpg'), 'no picture at all')
    writeFileSync(join(folder, 'list.txt'), 'claim-1')
  })
  afterAll(async () => {
    await dashboard?.close()
    rmSync(join(folder, '..'), { recursive: true, force: true })
  })

  async function chooseFolder(page: Page): Promise<void> {
    await page.getByLabel('A folder of photos').setInputFiles(folder)
    await page.getByText(`${FILES} files,`).waitFor()
  }

  it('goes on after the tab was closed, and says what was refused and why', async () => {
    const { page, visit, context } = await dashboard.signIn(caller.accountId)
    await visit('sandbox/batches/new')
    expect(await findInaccessible(page)).toEqual([])
    let sent = 0
    await page.route(/\/v1\/media$/, async (route) => {
      sent += 1
      // The others hang until the tab is closed.
      if (sent <= SENT_FIRST) await route.continue()
    })
    await chooseFolder(page)
    await page.getByText('1 of them are neither photos nor videos').waitFor()
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.getByText(`${SENT_FIRST} of ${FILES} files`).waitFor()
    await page.close()

    const again = await context.newPage()
    let repeated = 0
    again.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/v1/media')) repeated += 1
    })
    await again.goto(`${dashboard.service.app.url}/app/sandbox/batches/new`)
    await again.getByText('The upload of photos is not finished').waitFor()
    await chooseFolder(again)
    await again.getByRole('button', { name: 'Go on' }).click()
    await again.getByRole('heading', { level: 1, name: 'Batch' }).waitFor()
    // Nine have the name of a photo.
    expect(repeated).toBeLessThanOrEqual(PHOTOS + 1 - (SENT_FIRST - 1))

    const refused = again.getByRole('table', { name: 'Refused' })
    await refused.getByRole('row', { name: /photos\/broken\.jpg/ }).waitFor()
    await refused.getByRole('row', { name: /photos\/list\.txt.*neither a photo nor a video/ }).waitFor()
    await again.getByText(`0 of ${PHOTOS} captures have ended`).waitFor()
    const { service } = dashboard
    const work = service.services.attest.claims.feature.work?.attest?.()
    if (work === undefined) throw new Error('nothing does the work of attest')
    await createJobs(service.test, 'attest').drain(work, caller)
    await again.getByText(`${PHOTOS} of ${PHOTOS} captures have ended`).waitFor()
    await again.getByRole('row', { name: /photos\/claim-1\.jpg succeeded failed 60/ }).waitFor()
    expect(await findInaccessible(again)).toEqual([])
    const { json } = await service.call(caller, '/v1/claims/batches')
    expect(json.data).toMatchObject([{ accepted: PHOTOS, rejected_count: 0 }])
    const claims = await service.call(caller, '/v1/claims?reference=claim-1')
    expect(claims.json.data).toMatchObject([{ reference: 'claim-1', factor_codes: ['no_manifest'] }])
    await context.close()
  })
})
