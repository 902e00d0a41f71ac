// The requests of the guides in each of their tabs: the commands in a shell, and the programs in TypeScript and Python in one
// process for each language. All use one service, and each guide has an account of its own in each language.

import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Countersign } from '#client/countersign.ts'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createKeys } from '#src/account/keys/keys.ts'
import { newAccountId } from '#src/platform/ids.ts'
import { createAuthority } from '../../capture-kit/authority.ts'
import { createDevice } from '../../capture-kit/device.ts'
import { renderPhoto } from '../../capture-kit/photo.ts'
import { freePort } from '../../commands/ports.ts'
import { OWNER_EMAIL } from '../../commands/seed.ts'
import { blocksOf, type Guide, missingTools, openGuide } from '../support/guide.ts'
import { createPrograms, type Language, type Programs } from '../support/guide-programs.ts'
import { anyPython } from '../support/python.ts'
import { type System, startSystem } from '../support/system.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const TOOLS = ['bash', 'curl', 'npm']

interface Tabs {
  files: readonly string[]
  /** What an account has before its first request; gives the ids that stand for those of the guide. */
  prepare?: (client: Countersign, language: Language | 'sh') => Promise<Record<string, string>>
  /** Another file types the commands. */
  hasCommands?: false
}

const GUIDES: readonly Tabs[] = [
  {
    files: ['docs/start/first-requests.md'],
    // The command `capture` of the guide.
    prepare: async (client, language) => (language === 'sh' ? {} : captured(client, 'CLM-2026-001')),
  },
  // The second continues the first.
  { files: ['docs/authorize/authorize.md', 'docs/authorize/guard.md'] },
  { files: ['docs/authorize/mandates.md'] },
  { files: ['docs/authorize/schedules.md'] },
  { files: ['docs/authorize/clinical.md'] },
  { files: ['docs/authorize/approvals.md'] },
  { files: ['docs/account/account.md'], prepare: photographed },
  { files: ['docs/account/keys.md'] },
  { files: ['docs/attest/cases.md'], prepare: escalated },
  { files: ['docs/attest/duplicates.md'], prepare: photographed },
  { files: ['docs/attest/evidence.md'], prepare: photographed },
  { files: ['docs/attest/risk-policy.md'] },
  { files: ['docs/authorize/agents.md'] },
  { files: ['docs/authorize/ledger.md'], prepare: mismatched },
  { files: ['docs/authorize/policy.md'] },
  { files: ['docs/authorize/reports.md'], prepare: mismatched },
  { files: ['docs/reference/analytics.md'] },
  { files: ['docs/reference/api.md'] },
  { files: ['docs/reference/overview.md'], prepare: photographed },
  { files: ['docs/trace/attribution.md'], prepare: traced },
  { files: ['docs/trace/canaries.md'] },
  { files: ['docs/trace/shares.md'], prepare: traced },
  { files: ['docs/authorize/policy-webhooks.md'] },
  { files: ['docs/authorize/authzen.md'] },
  // Its commands need PyJWT: test/docs/tokens.test.ts.
  { files: ['docs/authorize/tokens.md'], hasCommands: false },
  { files: ['docs/trace/killswitch.md'] },
  { files: ['docs/trace/trace.md'] },
  { files: ['docs/trace/diffs.md'] },
  { files: ['docs/webhooks/webhooks.md'] },
  {
    files: ['clients/typescript/README.md'],
    prepare: async (client) => {
      const { apiKey } = await keyOf(client)
      return {
        ...(await captured(client, 'CLM-2026-001')),
        'svc_test_...': apiKey,
        'https://api.example.com': system.baseUrl,
      }
    },
    hasCommands: false,
  },
]
const titleOf = ({ files }: Tabs) => files.join(' and ')

const python = anyPython()
const photo = await renderPhoto({ seed: 1, width: 640, height: 480, exif: null })
const data = mkdtempSync(join(tmpdir(), 'countersign-data-'))
/** The processes of both languages, which run beside the commands. */
const started: Partial<Record<Language, { programs: Programs; ended: Promise<Map<string, string>> }>> = {}
let system: System

beforeAll(async () => {
  const only = ['web', 'dispatch', 'attest', 'compare', 'trace', 'diff', 'deliver', 'sequence']
  system = await startSystem({ engine: 'postgres', only })
  const languages = python === undefined ? (['ts'] as const) : (['ts', 'python'] as const)
  await Promise.all(
    languages.map(async (language) => {
      started[language] = await start(language)
    }),
  )
})
afterAll(async () => {
  for (const { programs, ended } of Object.values(started)) {
    await ended.catch(() => {})
    programs.close()
  }
  await system?.close()
  rmSync(data, { recursive: true, force: true })
})

async function start(language: Language) {
  const programs = createPrograms(language, python)
  const places = await Promise.all(GUIDES.map((guide) => placesOf(guide, language)))
  for (const [index, guide] of GUIDES.entries()) {
    programs.add(titleOf(guide), guide.files, places[index] ?? {}, { hasFiles: guide.hasCommands ?? true })
  }
  const ended = programs.run()
  // The test of each guide says what is wrong.
  ended.catch(() => {})
  return { programs, ended }
}

/** An account, and what stands for the texts of the guide: its address, its key, its ids. */
async function placesOf({ prepare }: Tabs, language: Language | 'sh'): Promise<Record<string, string>> {
  const { db } = system.database
  const account = await createAccounts({ db }).create({ id: newAccountId('acc'), name: 'Guide', plan: 'enterprise' })
  const scope = { accountId: account.id, environment: 'sandbox' } as const
  const { key } = await createKeys({ db }).create(scope, { name: 'guide', scopes: ['all'] })
  // Whom `npm start` makes the owner of the account. An address belongs to one user.
  const email = `${account.id}@localhost`
  const userId = newAccountId('usr')
  const user = [account.id, userId, email, 'owner']
  await system.database.owner('INSERT INTO users (account_id, id, email, role) VALUES ($1, $2, $3, $4)', user)
  const ids = await prepare?.(new Countersign({ apiKey: key, baseUrl: system.baseUrl, timeoutMs: 120_000 }), language)
  return {
    'npm run': `DATA_DIR=${data} npm --prefix ${ROOT} run`,
    'http://localhost:8080': system.baseUrl,
    svc_test_your_own_key: key,
    [OWNER_EMAIL]: email,
    usr_your_own_user: userId,
    '4000': String(await freePort()),
    ...ids,
  }
}

/** A claim with a photo that a device signed. */
async function captured(client: Countersign, reference: string): Promise<Record<string, string>> {
  const now = () => new Date()
  const authority = await createAuthority({ name: 'Phones', now })
  const device = await createDevice({ authority, name: 'Phone 1', now })
  await client.devices.roots.create({ name: authority.name, certificate: authority.rootDer.toString('base64') })
  await client.devices.create({
    name: device.name,
    certificateChain: device.chain.map((der) => der.toString('base64')),
  })
  const { mediaId } = await client.media.upload(photo, { contentType: 'image/jpeg' })
  const {
    media: _media,
    bundle,
    signature,
    certificate_chain: certificateChain,
  } = device.capture({
    photo,
    capturedAt: now(),
    media: { media_id: mediaId },
    gps: { lat: 52.5163, lng: 13.3777, accuracy_m: 4.7, mock: false },
    biometric: { gated: true, method: 'face' },
  })
  const attestation = await client.claims.attest({
    mediaType: 'image',
    claim: { reference },
    media: { mediaId },
    bundle,
    signature,
    certificateChain,
    wait: 25,
  })
  await untilEnded(() => client.claims.attestations.retrieve(attestation.attestationId, { wait: 25 }))
  return { clm_test_your_own_claim: attestation.claimId, med_test_your_own_photo: mediaId }
}

/** On a busy machine, work takes longer than one wait. */
async function untilEnded(read: () => Promise<{ status: string }>): Promise<void> {
  while (['queued', 'running'].includes((await read()).status));
}

async function keyOf(client: Countersign): Promise<{ apiKey: string }> {
  const { key = '' } = await client.account.keys.create({ name: 'readme', scopes: ['all'] })
  return { apiKey: key }
}

/** A claim whose photo was read once. */
async function photographed(client: Countersign): Promise<Record<string, string>> {
  const ids = await captured(client, 'CLM-2026-001')
  await (await client.media.download(ids.med_test_your_own_photo ?? '')).bytes()
  return ids
}

/** An open case of such a claim, whose decisions need two people. */
async function escalated(client: Countersign): Promise<Record<string, string>> {
  const { clm_test_your_own_claim: claimId = '' } = await captured(client, 'CLM-2026-001')
  const { caseId } = await client.cases.create({ claimId, actor: 'desk@example.com' })
  return { cas_test_01m7xhz409esnahvb2ghte38v4: caseId }
}

/** A verification that was refused. */
async function mismatched(client: Countersign): Promise<Record<string, string>> {
  const caller = { agentSessionId: 'ledger-1', deviceId: 'laptop-4' }
  const { intentToken } = await client.intent.authorize({ actionDescription: 'Pay', actionPayload: {}, ...caller })
  await client.intent.verify({ intentToken: intentToken ?? '', actionDescription: 'Pay more', actionPayload: {} })
  return {}
}

/** An inference with the graph of its first token. */
async function traced(client: Countersign): Promise<Record<string, string>> {
  const messages = [
    { role: 'system' as const, content: 'You are an agent. Tools: search, read, pay, send.' },
    { role: 'user' as const, content: 'What do chairs cost at Harbor Supplies?' },
    { role: 'tool' as const, content: 'Harbor Supplies: chairs, 215.50 EUR, delivery 2026-04-07.' },
  ]
  const { traceId } = await client.trace.inferences.create({ messages, retain: 'text' })
  const { jobId } = await client.trace.jobs.create({ traceId })
  await untilEnded(() => client.trace.jobs.retrieve(jobId, { wait: 25 }))
  const { nodes } = await client.trace.jobs.retrieveManifest(jobId)
  const neuron = nodes.find(({ feature_type: type }) => type === 'mlp neuron')
  return {
    trc_test_your_own_trace: traceId,
    job_test_your_own_job: jobId,
    '2_140_12': String(neuron?.node_id),
    '^outbound tool': `^${neuron?.clerp?.replaceAll(/[^a-zA-Z0-9 ]/g, '.').slice(0, 12)}`,
    '2026-12-04T12:00:00Z': new Date(Date.now() + 5 * 24 * 3_600_000).toISOString(),
  }
}

describe.skipIf(missingTools(TOOLS).length > 0)(
  `the commands of guides (skipped where one of ${TOOLS} is missing)`,
  { timeout: 240_000 },
  () => {
    const commands = GUIDES.filter(({ hasCommands }) => hasCommands !== false)
    it.each(commands.map((guide) => [titleOf(guide), guide] as const))(
      '%s runs from the first block to the last, and prints what it shows',
      async (_title, guide) => {
        const opened: Guide = openGuide(guide.files, await placesOf(guide, 'sh'))
        try {
          writeFileSync(join(opened.folder, 'photo.jpg'), photo)
          await opened.run()
        } finally {
          opened.close()
        }
      },
    )
  },
)

// Requests that are in curl alone, by guide.
const CURL_ALONE: Record<string, { requests: number; why: string }> = {
  'docs/attest/integrate.md': { requests: 3, why: 'each byte of a capture is made by hand' },
  'docs/attest/events-and-batches.md': { requests: 6, why: 'it continues the guide of a capture app' },
  'docs/authorize/clinical.md': { requests: 1, why: 'the list of the Inspector General has 15 MB' },
  'docs/authorize/ledger.md': { requests: 1, why: 'the first checkpoint takes a minute' },
  'docs/authorize/tokens.md': { requests: 1, why: 'it makes the token that PyJWT reads' },
  'docs/reference/api.md': { requests: 1, why: 'its file of captures has signatures' },
}

it('every guide that shows a request shows it in curl, TypeScript and Python, and is run', () => {
  const alone: Record<string, number> = {}
  const files = globSync('docs/{start,attest,authorize,trace,account,webhooks,reference}/*.md', { cwd: ROOT })
  for (const file of files) {
    const blocks = blocksOf(file, readFileSync(join(ROOT, file), 'utf8'))
    const requests = blocks.flatMap(({ text }, index) => (/\bcurl\b|\bcall "?\//.test(text) ? [index] : []))
    const isWhole = (index: number) => blocks[index + 1]?.language === 'ts' && blocks[index + 2]?.language === 'python'
    const missing = requests.filter((index) => blocks[index]?.language !== 'sh' || !isWhole(index)).length
    if (missing > 0) alone[file] = missing
    if (requests.length > missing) expect(GUIDES.flatMap((guide) => guide.files)).toContain(file)
  }
  expect(alone).toEqual(Object.fromEntries(Object.entries(CURL_ALONE).map(([file, { requests }]) => [file, requests])))
})

describe.each([
  ['TypeScript', 'ts', true],
  ['Python', 'python', python !== undefined],
] as const)('the programs of guides in %s', (name, language, isThere) => {
  it.skipIf(isThere || !process.env.CI)(`${name} is on this machine, with its packages`, () => {
    expect(isThere).toBe(true)
  })

  it.runIf(isThere)('fit the types of the library', async () => {
    expect(await started[language]?.programs.types()).toBe('')
  })

  // The library for TypeScript has a README in its own language alone.
  const titles = GUIDES.map(titleOf).filter((title) => language === 'ts' || title.startsWith('docs/'))
  it.runIf(isThere).each(titles)('%s prints what it says', { timeout: 240_000 }, async (title) => {
    expect((await started[language]?.ended)?.get(title)).toBe('')
  })
})
