// Every page of the dashboard in each of its states: with data, empty, slow, failed, forbidden; readable in light, dark and on
// a phone, with nothing that axe finds.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestCaller } from '../support/callers.ts'
import { type Dashboard, findInaccessible, hasChromium, startDashboard, type Visitor } from '../support/dashboard.ts'
import { ACCOUNT_PAGES } from './account-pages.ts'
import { type AccountIds, makeAccountData } from './account-rows.ts'
import { AUTHORIZE_PAGES } from './authorize-pages.ts'
import { type AuthorizeIds, makeAuthorizeData } from './authorize-rows.ts'
import { CLINICAL_PAGES } from './clinical-pages.ts'
import { type ClinicalIds, makeClinicalData } from './clinical-rows.ts'
import { MISSING, type PageRow } from './page-row.ts'
import { makePageData, type PageIds } from './rows.ts'

const PAGES: readonly PageRow[] = [
  { path: 'overview', heading: 'What waits', request: /\/v1\/overview$/ },
  {
    path: 'claims',
    heading: 'Claims',
    request: /\/v1\/claims\?/,
    permission: 'claims.read',
    empty: 'A claim appears with its first capture.',
  },
  { path: 'cases', heading: 'Cases', request: /\/v1\/cases\?/, permission: 'cases.read' },
  { path: 'batches', heading: 'Batches', request: /\/v1\/claims\/batches\?/, permission: 'claims.read' },
  {
    path: 'screenings',
    heading: 'Screenings',
    request: /\/v1\/media\/screenings\?/,
    permission: 'screening.read',
    empty: 'A screening begins with the media of a claim',
  },
  {
    path: 'devices',
    heading: 'Devices',
    request: /\/v1\/admin\/devices\?/,
    permission: 'devices.read',
    empty: 'Register the root CA of your devices first',
  },
  {
    path: 'roots',
    heading: 'Root CAs',
    request: /\/v1\/admin\/root-cas\?/,
    permission: 'devices.read',
    empty: 'Without a root CA no device can be enrolled.',
  },
  {
    path: 'anchors',
    heading: 'C2PA anchors',
    request: /\/v1\/admin\/c2pa-anchors\?/,
    permission: 'devices.read',
    empty: 'The published trust lists apply.',
  },
  {
    path: 'reevaluations',
    heading: 'Re-evaluations',
    request: /\/v1\/account\/reevaluations\?/,
    permission: 'policy.read',
    empty: 'Nothing was evaluated again',
  },
  {
    path: 'analytics',
    heading: 'Analytics of claims',
    request: /\/v1\/analytics\/claims\?/,
    permission: 'claims.read',
    empty: 'No claim began in this period.',
  },
  {
    path: 'risk-policy',
    heading: 'Risk policy',
    request: /\/v1\/account\/risk-policy$/,
    permission: 'policy.read',
    empty: 'Only the defaults, which are version 0.',
  },
  // Another account has none of these.
  { path: 'claims/:claim/attestations', heading: 'Captures of a claim', request: /\/attestations\?/, empty: MISSING },
  { path: 'claims/:claim/duplicates', heading: 'Duplicates of a claim', request: /\/duplicates\?/, empty: MISSING },
  { path: 'attestations/:attestation', heading: 'Capture', request: /\/v1\/attestations\/att[^/]+$/, empty: MISSING },
  { path: 'screenings/:screening', heading: 'Screening', request: /\/v1\/media\/screenings\/scr/, empty: MISSING },
  { path: 'devices/:device', heading: 'Phone 1', request: /\/v1\/admin\/devices\/dev[^/]+$/, empty: MISSING },
  { path: 'roots/:root', heading: 'Maker', request: /\/v1\/admin\/root-cas\/rca/, empty: MISSING },
  { path: 'anchors/:anchor', heading: 'Maker', request: /\/v1\/admin\/c2pa-anchors\/cpa/, empty: MISSING },
  {
    path: 'reevaluations/:reevaluation',
    heading: 'Re-evaluation',
    request: /\/v1\/account\/reevaluations\/ree/,
    empty: MISSING,
  },
  ...AUTHORIZE_PAGES,
  ...CLINICAL_PAGES,
  ...ACCOUNT_PAGES,
]

describe.skipIf(!hasChromium)('the pages of the dashboard (skipped where there is no Chromium)', () => {
  let dashboard: Dashboard
  let scope: TestCaller
  let ids: PageIds & AuthorizeIds & AccountIds & ClinicalIds
  let owner: Visitor
  let stranger: Visitor
  let developer: Visitor
  let analyst: Visitor
  beforeAll(async () => {
    dashboard = await startDashboard()
    scope = await dashboard.service.makeCaller()
    ids = {
      ...(await makePageData(dashboard.service, scope)),
      ...(await makeAuthorizeData(dashboard.service, scope)),
      ...(await makeAccountData(dashboard.service, scope)),
      ...(await makeClinicalData(dashboard.service, scope)),
    }
    owner = await dashboard.signIn(scope.accountId)
    const empty = await dashboard.service.makeCaller()
    stranger = await dashboard.signIn(empty.accountId, { scheme: 'dark', width: 390 })
    developer = await dashboard.signIn(scope.accountId, { role: 'developer' })
    analyst = await dashboard.signIn(scope.accountId, { role: 'analyst' })
  })
  afterAll(() => dashboard?.close())

  describe.each(PAGES)('$path', ({ path: pattern, heading, request, permission, deniedTo, empty }) => {
    // What failed, and what is forbidden, looks alike on every page.
    const isSample = PAGES.slice(0, 4).some(({ path: one }) => one === pattern)
    let path: string
    beforeAll(() => {
      path = pattern.replace(/:(\w+)/, (_, name) => ids[name as keyof typeof ids])
    })

    it('shows that it waits, what failed, and after another try its data, with nothing that axe finds and no other host asked', async () => {
      const { page, visit, complaints } = owner
      complaints.length = 0
      let answer: (() => void) | undefined
      await page.route(request, async (route) => {
        await new Promise<void>((done) => {
          answer = done
        })
        await route.fulfill({
          status: 503,
          contentType: 'application/problem+json',
          headers: { 'Retry-After': '120' },
          body: JSON.stringify({
            type: 'about:blank',
            title: 'Unavailable',
            status: 503,
            code: 'unavailable',
            detail: 'The service restarts.',
            request_id: 'req_1',
          }),
        })
      })
      await visit(`sandbox/${path}`)
      await page.getByRole('status', { name: 'Loading' }).first().waitFor()
      await expect.poll(() => answer).toBeDefined()
      answer?.()
      await page.getByText('The service restarts.').first().waitFor()
      if (isSample) expect(await findInaccessible(page)).toEqual([])
      await page.unroute(request)
      await page.getByRole('button', { name: 'Try again' }).first().click()
      // Away from what would show a tooltip.
      await page.mouse.move(0, 0)
      await page.getByText('The service restarts.').first().waitFor({ state: 'detached' })
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
      expect(await findInaccessible(page)).toEqual([])
      expect(complaints).toEqual([])
    })

    it('is readable in the dark on a phone, also without data', async () => {
      const { page, visit, complaints } = stranger
      complaints.length = 0
      await visit(`sandbox/${path}`)
      if (empty !== MISSING) await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      if (empty !== undefined) await page.getByText(empty).first().waitFor()
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      expect(await findInaccessible(page)).toEqual([])
      expect(complaints).toEqual([])
    })

    it.skipIf(permission === undefined)('says which permission it takes where the user has none', async () => {
      const { page, visit } = deniedTo === 'analyst' ? analyst : developer
      await visit(`live/${path}`)
      await page.getByText(permission ?? '', { exact: true }).waitFor()
      expect(await page.getByRole('navigation').getByRole('link', { name: heading }).count()).toBe(0)
      // The mark of the environment is placed once its text was measured.
      if (isSample) await expect.poll(() => findInaccessible(page), { timeout: 30_000 }).toEqual([])
    })
  })
})
