// How the service serves the dashboard: one page at every address below /app, files by their hash, and a policy that allows
// this origin alone.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDashboardFiles, DIST } from '#src/dashboard/files.ts'
import { isBuilt } from '../../commands/dashboard/build.ts'
import { startApp, type TestApp } from '../support/http.ts'

const SCRIPT = 'console.log("dashboard")'.repeat(100)

describe('the dashboard', () => {
  const directory = `${mkdtempSync(join(tmpdir(), 'dashboard-'))}/`
  let app: TestApp
  const get = (path: string, headers: Record<string, string> = {}) => fetch(new URL(path, app.url), { headers })

  beforeAll(async () => {
    app = await startApp([], { dashboard: createDashboardFiles(directory) })
  })
  afterAll(async () => {
    await app?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  it('says that it is being built, and asks to come again', async () => {
    const answer = await get('/app/sandbox/claims')
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('refresh')]).toEqual([503, '3', '3'])
    expect(await answer.text()).toContain('npm run dashboard -- build')
    expect((await get('/app/assets/index-1.js')).status).toBe(404)
  })

  it('is found once it is built, without a restart', async () => {
    build('index-1.js')
    expect((await get('/app')).status).toBe(200)
    build('index-2.js')
    expect(await (await get('/app/assets/index-2.js')).text()).toBe(SCRIPT)
    expect((await get('/app/assets/index-1.js')).status).toBe(404)
  })

  it('answers one page at every address, with a nonce that no other answer has', async () => {
    const answers = await Promise.all(
      ['/app', '/app/sandbox/overview', '/app/live/claims/clm_live_1', '/app/a/b/c/d', '/approve', '/orders'].map(
        (path) => get(path),
      ),
    )
    const nonces = await Promise.all(
      answers.map(async (answer) => {
        const nonce = /nonce-([^']+)'/.exec(answer.headers.get('content-security-policy') ?? '')?.[1] ?? ''
        expect(answer.headers.get('cache-control')).toBe('no-store')
        expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
        expect(await answer.text()).toContain(`content="${nonce}"`)
        return nonce
      }),
    )
    expect(new Set(nonces).size).toBe(6)
    const policy = answers[0]?.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  it('compresses its files as the browser takes them, and lets it keep them', async () => {
    build('index-3.js')
    for (const coding of ['br', 'gzip', 'identity']) {
      const answer = await get('/app/assets/index-3.js', { 'accept-encoding': coding })
      expect(answer.headers.get('content-encoding')).toBe(coding === 'identity' ? null : coding)
      expect(answer.headers.get('cache-control')).toContain('immutable')
      expect(await answer.text()).toBe(SCRIPT)
    }
  })

  it('reads no file that is not of the build', async () => {
    writeFileSync(`${directory}secret.txt`, 'secret')
    for (const path of ['..%2Fsecret.txt', '%2e%2e%2fsecret.txt', 'built.json', '..%2Fbuilt.json', 'index-3.js.br']) {
      expect((await get(`/app/assets/${path}`)).status, path).toBe(404)
    }
  })

  function build(script: string): void {
    mkdirSync(`${directory}assets`, { recursive: true })
    for (const page of ['index', 'operations']) {
      writeFileSync(`${directory}${page}.html`, '<meta name="csp-nonce" content="__NONCE__">')
    }
    writeFileSync(`${directory}assets/${script}`, SCRIPT)
    writeFileSync(`${directory}assets/${script}.br`, brotliCompressSync(SCRIPT))
    writeFileSync(`${directory}assets/${script}.gz`, gzipSync(SCRIPT))
    writeFileSync(`${directory}built.json`, JSON.stringify({ inputs: script, files: [script] }))
  }
})

describe('the build', () => {
  it('is that of the sources, and its first load is within 250 kB of scripts and 40 kB of styles', () => {
    expect(isBuilt()).toBe(true)
    const html = readFileSync(join(DIST, 'index.html'), 'utf8')
    const size = (type: string) =>
      [...html.matchAll(new RegExp(`/app/assets/([^"]+\\.${type})"`, 'g'))].reduce(
        (sum, [, name]) => sum + readFileSync(join(DIST, 'assets', `${name}.br`)).length,
        0,
      )
    expect(existsSync(join(DIST, 'built.json'))).toBe(true)
    expect(size('js')).toBeGreaterThan(10_000)
    expect(size('js')).toBeLessThanOrEqual(250_000)
    expect(size('css')).toBeLessThanOrEqual(40_000)
  })
})
