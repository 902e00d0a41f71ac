// The requests of the guides in each of their tabs: the commands in a shell, and the programs in TypeScript and Python in one
// process for each language. All use one service, and each guide has an account of its own in each language.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
import { type Guide, missingTools, openGuide } from '../support/guide.ts'
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
  { files: ['docs/authorize/approvals.md'] },
  { files: ['docs/authorize/policy-webhooks.md'] },
  { files: ['docs/authorize/authzen.md'] },
  { files: ['docs/trace/killswitch.md'] },
  { files: ['docs/trace/trace.md'] },
  { files: ['docs/trace/diffs.md'] },
  { files: ['docs/webhooks/webhooks.md'] },
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
  for (const language of python === undefined ? (['ts'] as const) : (['ts', 'python'] as const)) {
    started[language] = await start(language)
  }
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
  for (const guide of GUIDES) {
    const title = titleOf(guide)
    programs.add(title, guide.files, await placesOf(guide, language))
    writeFileSync(join(programs.folderOf(title), 'photo.jpg'), photo)
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
  const user = [account.id, newAccountId('usr'), email, 'owner']
  await system.database.owner('INSERT INTO users (account_id, id, email, role) VALUES ($1, $2, $3, $4)', user)
  const ids = await prepare?.(new Countersign({ apiKey: key, baseUrl: system.baseUrl }), language)
  return {
    'npm run': `DATA_DIR=${data} npm --prefix ${ROOT} run`,
    'http://localhost:8080': system.baseUrl,
    svc_test_your_own_key: key,
    [OWNER_EMAIL]: email,
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
  return { clm_test_your_own_claim: attestation.claimId, med_test_your_own_photo: mediaId }
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

  it.runIf(isThere).each(GUIDES.map(titleOf))('%s prints what it says', { timeout: 240_000 }, async (title) => {
    expect((await started[language]?.ended)?.get(title)).toBe('')
  })
})
