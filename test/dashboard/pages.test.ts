// Every page of the dashboard in each of its states: with data, empty, slow, failed, forbidden; readable in light, dark and on
// a phone, with nothing that axe finds.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestCaller } from '../support/callers.ts'
import { type Dashboard, findInaccessible, hasChromium, startDashboard, type Visitor } from '../support/dashboard.ts'
import { type AuthorizeIds, makeAuthorizeData } from './authorize-rows.ts'
import { makePageData, type PageIds } from './rows.ts'

interface PageRow {
  /** Below /app/<environment>/; `:claim` and the like are replaced by an id. */
  path: string
  /** Its heading, with data. */
  heading: string
  /** The request without which it can't show anything. */
  request: RegExp
  /** Without it, the page says so. */
  permission?: string
  /** What it says without data. */
  empty?: string
}

const MISSING = 'There is no such thing in this environment'

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
  {
    path: 'approvals',
    heading: 'Approvals',
    request: /\/v1\/approvals\?/,
    permission: 'approvals.read',
    empty: 'Nothing waits for your decision',
  },
  {
    path: 'approvals/all',
    heading: 'All approvals',
    request: /\/v1\/approvals\?/,
    permission: 'approvals.read',
    empty: 'asks people before an action runs',
  },
  { path: 'approvals/:approval', heading: 'Approval', request: /\/v1\/approvals\/apr[^/?]+$/, empty: MISSING },
  { path: 'decisions', heading: 'Decisions', request: /\/v1\/decisions\?/, empty: 'A decision is recorded with each' },
  {
    path: 'decisions/:decision',
    heading: 'Decision: verify',
    request: /\/v1\/decisions\/dec[^/]+$/,
    empty: MISSING,
  },
  {
    path: 'mandates',
    heading: 'Mandates',
    request: /\/v1\/mandates\?/,
    permission: 'mandates.read',
    empty: 'A mandate is granted with a key',
  },
  {
    path: 'mandates/:mandate',
    heading: 'Repairs of the fleet',
    request: /\/v1\/mandates\/mnd[^/]+$/,
    empty: MISSING,
  },
  {
    path: 'schedules',
    heading: 'Schedules',
    request: /\/v1\/schedules\?/,
    permission: 'schedules.read',
    empty: 'A schedule is set up with a key',
  },
  {
    path: 'schedules/cycles',
    heading: 'Cycles of all schedules',
    request: /\/v1\/schedules\/cycles\?/,
    permission: 'schedules.read',
    empty: 'No cycle of a schedule begins',
  },
  { path: 'schedules/:schedule', heading: 'Example Leasing', request: /\/v1\/schedules\/sch[^/]+$/, empty: MISSING },
  {
    path: 'agents',
    heading: 'Agents',
    request: /\/v1\/agents\?/,
    permission: 'agents.read',
    empty: 'Tokens also work without a registered agent.',
  },
  { path: 'agents/:agent', heading: 'Repair desk', request: /\/v1\/agents\/agt[^/]+$/, empty: MISSING },
  {
    path: 'agent-sessions',
    heading: 'Agent sessions',
    request: /\/v1\/agents\/sessions\?/,
    permission: 'agents.read',
    empty: 'A session is opened for a registered agent.',
  },
  {
    path: 'locks',
    heading: 'Locks',
    request: /\/v1\/trace\/session-locks\?/,
    permission: 'locks.read',
    empty: 'No canary has tripped.',
  },
  { path: 'locks/:lock', heading: 'Lock', request: /\/v1\/trace\/session-locks\/lck/, empty: MISSING },
  {
    path: 'revocations',
    heading: 'Revocations',
    request: /\/v1\/intent\/revocations\?/,
    permission: 'intents.read',
    empty: 'Nothing was revoked.',
  },
  {
    path: 'revocations/:revocation',
    heading: 'Revocation',
    request: /\/v1\/intent\/revocations\/rev/,
    empty: MISSING,
  },
  { path: 'reports', heading: 'Reports', request: /\/v1\/analytics\/approvals$/ },
  {
    path: 'reports/spend',
    heading: 'Spend under mandates',
    request: /\/v1\/analytics\/mandate-spend\?/,
    empty: 'Nothing was charged under a mandate',
  },
  {
    path: 'reports/unexecuted',
    heading: 'Tokens that were never used',
    request: /\/v1\/analytics\/unexecuted\?/,
    empty: 'Every token of the last days was used.',
  },
]

describe.skipIf(!hasChromium)('the pages of the dashboard (skipped where there is no Chromium)', () => {
  let dashboard: Dashboard
  let scope: TestCaller
  let ids: PageIds & AuthorizeIds
  let owner: Visitor
  let stranger: Visitor
  let developer: Visitor
  beforeAll(async () => {
    dashboard = await startDashboard()
    scope = await dashboard.service.makeCaller()
    ids = {
      ...(await makePageData(dashboard.service, scope)),
      ...(await makeAuthorizeData(dashboard.service, scope)),
    }
    owner = await dashboard.signIn(scope.accountId)
    const empty = await dashboard.service.makeCaller()
    stranger = await dashboard.signIn(empty.accountId, { scheme: 'dark', width: 390 })
    developer = await dashboard.signIn(scope.accountId, { role: 'developer' })
  })
  afterAll(() => dashboard?.close())

  describe.each(PAGES)('$path', ({ path: pattern, heading, request, permission, empty }) => {
    let path: string
    beforeAll(() => {
      path = pattern.replace(/:(\w+)/, (_, name) => ids[name as keyof typeof ids])
    })

    it('shows its data, with nothing that axe finds, and asks no other host', async () => {
      const { page, visit, complaints } = owner
      complaints.length = 0
      await visit(`sandbox/${path}`)
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

    it('shows while it waits that it does, and what failed with a way to try again', async () => {
      const { page, visit } = owner
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
      expect(await findInaccessible(page)).toEqual([])
      await page.unroute(request)
      await page.getByRole('button', { name: 'Try again' }).first().click()
      await page.getByText('The service restarts.').first().waitFor({ state: 'detached' })
    })

    it.skipIf(permission === undefined)('says which permission it takes where the user has none', async () => {
      const { page, visit } = developer
      await visit(`live/${path}`)
      await page.getByText(permission ?? '', { exact: true }).waitFor()
      expect(await page.getByRole('navigation').getByRole('link', { name: heading }).count()).toBe(0)
      // The mark of the environment is placed once its text was measured.
      await expect.poll(() => findInaccessible(page), { timeout: 30_000 }).toEqual([])
    })
  })
})
