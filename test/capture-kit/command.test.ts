import { execFile } from 'node:child_process'
import { createHash, verify, X509Certificate } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import canonicalize from 'canonicalize'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AttestBody } from '../../capture-kit/device.ts'
import { renderPhoto } from '../../capture-kit/photo.ts'
import { CAMERAS } from '../../capture-kit/stock.ts'

const COMMAND = fileURLToPath(new URL('../../commands/capture.ts', import.meta.url))
const TAKEN_AT = new Date('2026-11-20T15:11:22.045Z')

let folder: string
let photo: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'capture-'))
  photo = join(folder, 'photo.jpg')
  const gps = { lat: 51.5007, lng: -0.1246, altitudeMetres: 15 }
  const exif = {
    camera: CAMERAS[0],
    takenAt: TAKEN_AT,
    utcOffsetMinutes: 0,
    hasOffset: true,
    gps,
    exposureSeconds: 0.01,
    iso: 50,
  }
  await writeFile(photo, await renderPhoto({ seed: 1, width: 64, height: 48, exif }))
})

afterAll(() => rm(folder, { recursive: true }))

function run(...args: string[]) {
  return runIn({}, ...args)
}

function runIn(
  environment: Record<string, string>,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { COUNTERSIGN_KEY: _, ...inherited } = process.env
  const env = { ...inherited, ...environment }
  return new Promise((resolve) => {
    execFile(process.execPath, [COMMAND, '--keys', join(folder, 'keys'), ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
    })
  })
}

test('the command writes a signed body with the photo in it, with the time and place of the photo', async () => {
  const { code, stdout } = await run(photo, '--claim', 'CLM-1')
  const body: AttestBody = JSON.parse(stdout)
  const bytes = await readFile(photo)
  expect(code).toBe(0)
  expect(body.media).toEqual({ content_type: 'image/jpeg', data: bytes.toString('base64') })
  expect(body.claim).toEqual({ reference: 'CLM-1' })
  expect(body.bundle).toMatchObject({
    captured_at: TAKEN_AT.toISOString(),
    sensor_hash: createHash('sha256').update(bytes).digest('hex'),
    gps: { lat: 51.5007, lng: -0.1246 },
  })
  const key = new X509Certificate(Buffer.from(body.certificate_chain?.[0] ?? '', 'base64')).publicKey
  const value = Buffer.from(body.signature?.value ?? '', 'base64url')
  const data = Buffer.from(canonicalize(body.bundle) ?? '', 'utf8')
  expect(verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, value)).toBe(true)
})

test('the command signs several photos with one device, and writes a body without the photo for each', async () => {
  const photos = join(folder, 'several')
  await mkdir(photos)
  const paths = await Promise.all(
    ['a.jpg', 'a.jpeg', 'b.jpg'].map(async (name, at) => {
      const path = join(photos, name)
      await writeFile(path, await renderPhoto({ seed: at + 2, width: 64, height: 48, exif: null }))
      return path
    }),
  )
  const { code, stdout } = await run(...paths, '--out', photos, '--captured-at', 'now', '--lat', '1', '--lng', '-2')
  expect([code, stdout]).toEqual([0, ''])
  const bodies: AttestBody[] = await Promise.all(
    paths.map(async (path) => JSON.parse(await readFile(`${path}.json`, 'utf8'))),
  )
  for (const [at, body] of bodies.entries()) {
    const bytes = await readFile(paths[at] ?? '')
    expect(body).not.toHaveProperty('media')
    expect(body.bundle).toMatchObject({
      sensor_hash: createHash('sha256').update(bytes).digest('hex'),
      gps: { lat: 1, lng: -2 },
    })
  }
  expect(new Set(bodies.map(({ certificate_chain: chain }) => chain?.[0])).size).toBe(1)
})

test('the command refuses several photos without a folder, with an address, or with one name', async () => {
  const other = join(folder, 'other')
  await mkdir(other)
  const copy = join(other, 'photo.jpg')
  await writeFile(copy, await readFile(photo))
  for (const args of [
    [],
    ['--out', join(folder, 'body.json')],
    ['--out', join(folder, 'nowhere', 'at-all')],
    ['--out', other],
    ['--out', other, '--url', 'http://127.0.0.1:9', '--key', 'svc_test_x'],
  ]) {
    const { code, stdout } = await run(photo, copy, ...args)
    expect([args, code, stdout]).toEqual([args, 2, ''])
  }
  expect(await readdir(other)).toEqual(['photo.jpg'])
})

test('the command uses the same device in the next run, and keeps its keys private', async () => {
  const out = join(folder, 'body.json')
  const { code, stdout } = await run(
    photo,
    '--out',
    out,
    '--lat',
    '-33.85',
    '--lng',
    '-70.6',
    '--captured-at',
    '2026-11-20T16:00:00+01:00',
  )
  const first: AttestBody = JSON.parse((await run(photo)).stdout)
  const second: AttestBody = JSON.parse(await readFile(out, 'utf8'))
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(second.certificate_chain).toEqual(first.certificate_chain)
  expect(second.bundle).toMatchObject({ captured_at: '2026-11-20T15:00:00.000Z', gps: { lat: -33.85, lng: -70.6 } })

  const keys = join(folder, 'keys')
  expect((await readdir(keys)).sort()).toEqual(['authority.json', 'device.json'])
  expect((await stat(keys)).mode & 0o777).toBe(0o700)
  for (const name of await readdir(keys)) expect((await stat(join(keys, name))).mode & 0o777).toBe(0o600)
})

test('the command names invalid arguments, and where to find help', async () => {
  const wrong = [
    [],
    [photo, '--bogus'],
    [photo, '--lat', '91', '--lng', '1'],
    [photo, '--captured-at', '5'],
    [photo, '--url', 'http://127.0.0.1:1'],
  ]
  for (const args of wrong) {
    const { code, stdout, stderr } = await run(...args)
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' })
    expect(stderr).toContain('--help')
  }
  const help = await run('--help')
  expect(help.code).toBe(0)
  expect(help.stdout).toContain('--admin-key')
})

test('the command takes its key from a file or from the environment', async () => {
  const seen: (string | undefined)[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(401, { 'Content-Type': 'application/problem+json' }).end('{"code":"invalid_key","status":401}')
  })
  const { port } = await new Promise<AddressInfo>((done) =>
    server.listen(0, '127.0.0.1', () => done(server.address() as AddressInfo)),
  )
  try {
    const file = join(folder, 'key')
    await writeFile(file, 'from-a-file\n')
    const url = ['--url', `http://127.0.0.1:${port}`]
    for (const [args, environment, key] of [
      [['--key-file', file], {}, 'from-a-file'],
      [[], { COUNTERSIGN_KEY: 'from-the-environment' }, 'from-the-environment'],
      [['--key', 'given'], { COUNTERSIGN_KEY: 'from-the-environment' }, 'given'],
      [['--key', 'given', '--admin-key-file', file], {}, 'from-a-file'],
    ] as const) {
      seen.length = 0
      const { code } = await runIn(environment, photo, ...url, ...args)
      expect({ args, code, first: seen[0] }).toEqual({ args, code: 1, first: `Bearer ${key}` })
    }
    for (const args of [
      url,
      [...url, '--key', 'a', '--key-file', file],
      [...url, '--key-file', folder],
      ['--key', 'a'],
    ]) {
      const { code, stderr } = await run(photo, ...args)
      expect({ args, code }).toEqual({ args, code: 2 })
      expect(stderr).toMatch(/key/)
    }
    // Without a service the key belongs to no account.
    expect((await runIn({ COUNTERSIGN_KEY: 'k' }, photo)).code).toBe(0)
  } finally {
    server.close()
  }
})

test('the command ends with a sentence and no stack for expected failures', async () => {
  const text = join(folder, 'text.jpg')
  await writeFile(text, 'not a photo')
  const damaged = join(folder, 'damaged')
  await run(photo, '--keys', damaged)
  await writeFile(join(damaged, 'device.json'), '{"name":"x"}')
  const failing = [[text], [photo, '--keys', damaged], [photo, '--url', 'http://127.0.0.1:1', '--key', 'k']]
  for (const args of failing) {
    const { code, stderr } = await run(...args)
    expect({ args, code }).toEqual({ args, code: 1 })
    expect(stderr.trim().split('\n')).toHaveLength(1)
  }
})
