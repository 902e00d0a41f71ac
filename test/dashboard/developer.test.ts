// The way of a developer through the dashboard, in a real browser against a real receiver: a key, an endpoint, a ping, a
// delivery that fails and is replayed, and the check of its signature.

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDeliver } from '#src/account/webhooks/deliver.ts'
import { emitMany } from '#src/account/webhooks/emit.ts'
import type { TestCaller } from '../support/callers.ts'
import { type Dashboard, findInaccessible, hasChromium, startDashboard, type Visitor } from '../support/dashboard.ts'
import { createJobs } from '../support/jobs.ts'

const CLAIM = 'clm_test_01m7x7em5b4e4hv6x9s8n1q0tj'
// The schedule of a delivery.
const ATTEMPTS = 10

describe.skipIf(!hasChromium)('a developer (skipped where there is no Chromium)', () => {
  let dashboard: Dashboard
  let caller: TestCaller
  let visitor: Visitor
  let receiver: Server
  let status = 200
  let received: { headers: IncomingHttpHeaders; body: string }[] = []
  let signingSecret: string
  beforeAll(async () => {
    dashboard = await startDashboard({ env: { OUTBOUND_ALLOW: '127.0.0.1' } })
    caller = await dashboard.service.makeCaller()
    visitor = await dashboard.signIn(caller.accountId)
    receiver = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(status).end(status === 200 ? 'taken' : 'the queue of this receiver is full')
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
  })
  afterAll(async () => {
    receiver?.close()
    await dashboard?.close()
  })

  /** Runs the next attempt of the newest delivery, as a worker does when it is due. */
  async function attempt(): Promise<void> {
    const { test, services } = dashboard.service
    const { sealer, outbound } = services.platform
    const [row] = await test.owner<{ job_id: string }>(
      `UPDATE deliveries SET next_attempt_at = now()
       WHERE id = (SELECT max(id) FROM deliveries WHERE status = 'pending') RETURNING job_id`,
      [],
    )
    const jobs = createJobs(test, 'deliver')
    const work = { ...createDeliver({ db: test.db, sealer, outbound, random: () => 0.5 }), onRedrive: async () => {} }
    await jobs.run(await jobs.take(row?.job_id ?? ''), work as never)
  }
  const isPending = () => dashboard.service.count(`deliveries WHERE status = 'pending'`)

  it('creates a key for one scope and one address, sees it once, rotates it and revokes the new one', async () => {
    const { page, visit } = visitor
    await visit('sandbox/keys')
    await page.getByRole('button', { name: 'Create a key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Claims system')
    await dialog.getByRole('combobox', { name: 'Scopes' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('option', { name: /^verify/ }).click()
    await dialog.getByLabel('Name').click()
    await dialog.getByLabel('Addresses').fill('127.0.0.1 203.0.113.0/24')
    expect(await findInaccessible(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create a key' }).dblclick()
    const shown = dialog.getByRole('textbox', { name: 'API key “Claims system”' })
    const key = (await shown.textContent()) ?? ''
    expect(key).toMatch(/^svc_test_/)
    expect((await dashboard.service.call({ key }, '/v1/claims')).status).toBe(200)
    expect((await dashboard.service.call({ key }, '/v1/account/keys')).status).toBe(403)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('cell', { name: 'Claims system' }).waitFor()
    // A double click made one.
    expect(await page.getByRole('cell', { name: 'Claims system' }).count()).toBe(1)
    expect(await page.getByText(key).count()).toBe(0)

    await page.getByRole('button', { name: 'Rotate' }).click()
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    const next = (await shown.textContent()) ?? ''
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText(/^(?:1 d 00:00:00|23:59:\d\d)$/).waitFor()
    expect((await dashboard.service.call({ key: next }, '/v1/claims')).status).toBe(200)
    const row = page.getByRole('row').filter({ hasText: next.slice(-4) })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await dialog.getByText('is revoked permanently').waitFor()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await dialog.getByText('“Claims system” is revoked.').waitFor()
    expect((await dashboard.service.call({ key: next }, '/v1/claims')).status).toBe(401)
    await dialog.getByRole('button', { name: 'Done' }).click()
    // The keyboard alone opens the newest key.
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Claims system' }).waitFor()
    await page.getByText('203.0.113.0/24').waitFor()
  })

  it('adds an endpoint, whose secret is shown once, and sees what it answers to a ping', async () => {
    const { page, visit } = visitor
    await visit('sandbox/endpoints')
    await page.getByRole('button', { name: 'Add an endpoint' }).click()
    const dialog = page.getByRole('dialog')
    const { port } = receiver.address() as AddressInfo
    await dialog.getByLabel('Address').fill(`http://127.0.0.1:${port}/hook`)
    await dialog.getByRole('button', { name: 'Add an endpoint' }).click()
    signingSecret = (await dialog.getByRole('textbox', { name: 'Signing secret' }).textContent()) ?? ''
    await dialog.getByRole('link', { name: 'Open the endpoint' }).click()
    await page.getByText('accepted nothing yet').waitFor()
    await page.getByRole('button', { name: 'Send a ping' }).click()
    await expect.poll(isPending).toBe(1)
    await attempt()
    await page.getByText('Attempt 1: 200').waitFor()
    await page.getByText('Answer of 127.0.0.1').click()
    await page.getByText('taken', { exact: true }).waitFor()
    expect(await findInaccessible(page)).toEqual([])
  })

  it('sees why a delivery failed and since when, and replays it once the receiver works again', async () => {
    const { page, visit } = visitor
    const { test } = dashboard.service
    status = 503
    received = []
    const data = { claim_id: CLAIM, risk_score: 80, factor_codes: ['device_revoked'] }
    await test.db.tenant(caller, (tx) => emitMany(tx, caller, [{ type: 'claim.escalated', data }]))
    for (let count = 0; count < ATTEMPTS; count += 1) await attempt()
    const [endpoint] = await test.owner<{ id: string }>('SELECT id FROM webhook_endpoints', [])
    await visit(`sandbox/endpoints/${endpoint?.id}`)
    await page.getByRole('alert').getByText('The last attempt: it answered 503.').waitFor()
    await page.getByRole('alert').getByText('Since', { exact: false }).first().waitFor()
    const row = page.getByRole('row').filter({ hasText: 'claim.escalated' })
    await row.getByText('failed').waitFor()
    await row.getByRole('button', { name: 'Attempts' }).click()
    await page.getByText(`Attempt ${ATTEMPTS}: 503`).waitFor()
    expect(await findInaccessible(page)).toEqual([])

    status = 200
    await row.getByRole('button', { name: 'Send again' }).click()
    await expect.poll(isPending).toBe(1)
    await attempt()
    await visit('sandbox/deliveries?status=delivered&eventType=claim.escalated')
    await page.getByRole('cell', { name: '200' }).waitFor()
    expect(received).toHaveLength(ATTEMPTS + 1)
  })

  it('verifies the signature of what it received, in the browser alone', async () => {
    const { page, visit } = visitor
    const { test } = dashboard.service
    const [endpoint] = await test.owner<{ id: string }>('SELECT id FROM webhook_endpoints', [])
    await visit(`sandbox/endpoints/${endpoint?.id}`)
    const last = received.at(-1)
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.postData() ?? ''))
    await page.getByLabel('Signing secret').fill(signingSecret)
    await page.getByLabel('Service-Signature').fill(String(last?.headers['service-signature']))
    await page.getByLabel('Body').fill(`${last?.body} `)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('The secret or the body is another one.').waitFor()
    await page.getByLabel('Body').fill(last?.body ?? '')
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('The body was signed with this secret, within the last 5 minutes.').waitFor()
    expect(requests.filter((body) => body.includes(signingSecret))).toEqual([])
  })
})
