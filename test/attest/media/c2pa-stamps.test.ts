import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { judge } from '#src/attest/factors/judge.ts'
import { type C2paOptions, createC2paReader } from '#src/attest/media/c2pa.ts'
import { PUBLIC_AUTHORITIES, PUBLIC_SIGNERS, readTrustAnchors } from '#src/attest/media/c2pa-trust.ts'
import { factsOf } from '../factors/vectors.ts'
import { type C2paSigner, makeC2paSigner, makePicture } from './c2pa-signing.ts'
import { makeTimeStampAuthority, type TimeStampAuthority } from './time-stamp.ts'

// A phone's certificate of thirty days, a photo of the tenth, and its claim in the summer.
const MONTH = { from: '2026-03-01T00:00:00Z', until: '2026-03-31T00:00:00Z' }
const TAKEN = new Date('2026-03-10T00:00:00Z')
const AT = new Date('2026-07-01T00:00:00Z')

let folder = ''
let authority: TimeStampAuthority
let phone: C2paSigner
let photo: Buffer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'c2pa-stamps-'))
  authority = await makeTimeStampAuthority({ at: TAKEN })
  phone = await makeC2paSigner({ leafValidity: MONTH, stampedBy: authority })
  photo = await phone.sign(await makePicture(), 'image/jpeg')
})
afterAll(() => rm(folder, { recursive: true }))

describe('a photo whose certificate has ended, with a time stamp that lies inside', () => {
  it('is trusted where its issuer and its authority are in the lists', async () => {
    expect(await advisoriesOf(photo, { anchors: [phone.root], authorities: [authority.root] })).toMatchObject([
      {
        code: 'c2pa_present_valid',
        evidence: {
          trusted: true,
          codes: [],
          not_judged: [],
          signer: { signed_at: '2026-03-10T00:00:00+00:00' },
          trust_list: { certificates: 1 },
          time_stamp_trust_list: { certificates: 1 },
        },
      },
    ])
  })

  it.each([
    ['its authority', () => ({ anchors: [phone.root] }), ['time_stamp_authority'], []],
    ['its issuer', () => ({ authorities: [authority.root] }), ['issuer'], ['signingCredential.untrusted']],
    ['either', () => ({}), ['issuer', 'time_stamp_authority'], ['signingCredential.untrusted']],
  ] as const)(
    'is valid and not trusted where %s is unknown, and the evidence names it',
    async (_, lists, open, codes) => {
      expect(await advisoriesOf(photo, lists())).toMatchObject([
        {
          code: 'c2pa_present_valid',
          evidence: { found: 'valid', validation_state: 'Valid', trusted: false, not_judged: open, codes },
        },
      ])
    },
  )

  it('is not trusted where the issuer is in the list of authorities alone', async () => {
    const lists = { authorities: [authority.root, phone.root] }
    expect(await advisoriesOf(photo, lists)).toMatchObject([
      { code: 'c2pa_present_valid', evidence: { trusted: false, not_judged: ['issuer'] } },
    ])
  })

  it('is trusted by anchors that serve for signers and authorities, as those of an account do', async () => {
    expect(await advisoriesOf(photo, {}, { anchors: [phone.root, authority.root] })).toMatchObject([
      { code: 'c2pa_present_valid', evidence: { trusted: true, not_judged: [] } },
    ])
  })

  it('is invalid where a byte of the picture was changed, whatever the lists say', async () => {
    const changed = Buffer.from(photo)
    changed.writeUInt8(changed.readUInt8(changed.length - 3) ^ 1, changed.length - 3)
    for (const lists of [{}, { anchors: [phone.root] }, { anchors: [phone.root], authorities: [authority.root] }]) {
      expect(await advisoriesOf(changed, lists)).toMatchObject([
        { code: 'c2pa_invalid', evidence: { found: 'changed after signing', trusted: false } },
      ])
    }
  })
})

describe('a photo whose certificate had ended is invalid', () => {
  it.each([
    ['outside of the certificate’s validity', { at: new Date('2026-05-01T00:00:00Z') }],
    ['before the certificate began', { at: new Date('2026-01-01T00:00:00Z') }],
    ['whose own signature does not verify', { at: TAKEN, isBroken: true }],
    ['about other bytes', { at: TAKEN, isElsewhere: true }],
  ])('with a time stamp %s', async (_, options) => {
    const other = await makeTimeStampAuthority(options)
    const signer = await makeC2paSigner({ leafValidity: MONTH, stampedBy: other })
    const signed = await signer.sign(await makePicture(), 'image/jpeg')
    for (const authorities of [[], [other.root]]) {
      expect(await advisoriesOf(signed, { anchors: [signer.root], authorities })).toMatchObject([
        { code: 'c2pa_invalid', evidence: { found: 'credential not acceptable', trusted: false } },
      ])
    }
  })

  it('without a time stamp', async () => {
    const signer = await makeC2paSigner({ leafValidity: MONTH })
    const signed = await signer.sign(await makePicture(), 'image/jpeg')
    expect(await advisoriesOf(signed, { anchors: [signer.root] })).toMatchObject([
      { code: 'c2pa_invalid', evidence: { found: 'credential not acceptable' } },
    ])
  })
})

it('a certificate that is still valid needs no authority: the stamp of an unknown one is only named', async () => {
  const signer = await makeC2paSigner({ stampedBy: authority })
  const signed = await signer.sign(await makePicture(), 'image/jpeg')
  expect(await advisoriesOf(signed, { anchors: [signer.root] })).toMatchObject([
    { code: 'c2pa_present_valid', evidence: { trusted: true, not_judged: ['time_stamp_authority'] } },
  ])
})

it('the public lists are read whole, and a file that names nobody of them stays valid', async () => {
  const lists = {
    anchors: () => readTrustAnchors(PUBLIC_SIGNERS),
    authorities: () => readTrustAnchors(PUBLIC_AUTHORITIES),
  }
  expect(await advisoriesOf(photo, lists)).toMatchObject([
    {
      code: 'c2pa_present_valid',
      evidence: {
        trusted: false,
        not_judged: ['issuer', 'time_stamp_authority'],
        trust_list: { certificates: 30 },
        time_stamp_trust_list: { certificates: 22 },
      },
    },
  ])
})

let count = 0

async function advisoriesOf(
  bytes: Buffer,
  lists: C2paOptions,
  { anchors = [] }: { anchors?: readonly Uint8Array[] } = {},
) {
  count += 1
  const path = join(folder, `file-${count}`)
  await writeFile(path, bytes)
  const reader = createC2paReader(lists)
  try {
    const scan = { state: 'present', size: bytes.length } as const
    const reading = await reader.read(path, { scan, manifestReference: null, anchors: async () => anchors, at: AT })
    if (!reading.ok) throw new Error(`${reading.code}: ${reading.detail}`)
    return judge({ ...factsOf({}), c2pa: reading.value }).advisoryFactors
  } finally {
    await reader.close()
  }
}
