// The models feature over HTTP, and its backend: a real file in a real process.

import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { GREEDY } from '#src/trace/llama/sampling.ts'
import { modelsConfig } from '#src/trace/models/config.ts'
import { createModels } from '#src/trace/models/models.ts'
import { createModelFolder } from '../../support/gguf.ts'
import { TINY } from '../../support/models.ts'
import { startTestService } from '../../support/service.ts'

const folder = createModelFolder()
const broken = folder.write('broken.gguf', Buffer.from('GGUF but not really, and long enough'))
const bare = folder.write('bare.gguf', readFileSync(TINY))
const on = await startTestService({
  scopes: ['all'],
  env: { TRACE_MODELS: `countersign-tiny,bare=${bare},broken=${broken},missing` },
})
const { models } = on.services.trace.models
const caller = await on.makeCaller()

afterAll(async () => {
  await on.close()
  folder.close()
})

describe('the models of an installation', () => {
  it('are listed with what they can do; a broken file is unusable, and its path is no answer', async () => {
    const { status, json } = await on.call(caller, '/v1/trace/models')
    expect(status).toBe(200)
    expect(json.data).toMatchObject([
      {
        model: 'countersign-tiny',
        default: true,
        embedded: true,
        usable: true,
        capabilities: { attribution: 'exact', canary: 'probe' },
        version: { model_version_id: expect.stringMatching(/^countersign-tiny@[0-9a-f]{16}$/), layers: 3, chat: true },
        probe_set: { set: 'default-v1' },
      },
      { model: 'bare', default: false, usable: true, capabilities: { canary: 'none' }, probe_set: null },
      { model: 'broken', usable: false, version: null },
      { model: 'missing', usable: false, version: null },
    ])
    expect(JSON.stringify(json)).not.toContain(folder.folder)
  })

  it('are found by their name, and nothing else is', async () => {
    const { json } = await on.call(caller, '/v1/trace/models/countersign-tiny')
    const families = json.probe_set as { families: { family: string; status: string; threshold: number }[] }
    expect(families.families.map(({ family }) => family)).toContain('exfiltration')
    expect((await on.call(caller, '/v1/trace/models/smollm9')).json.code).toBe('not_found')
    expect((await on.call(caller, '/v1/trace/models/..%2Fetc')).status).toBe(404)
  })

  it('are loaded before a request asks for them where the configuration names them and they are small', async () => {
    const ready: unknown[] = []
    const log = { info: (fields: { model: string }) => ready.push(fields.model), warn: () => {} }
    const start = async (named: string[]) => {
      const settings = z.object(modelsConfig.keys).parse({ TRACE_MODELS: named.join(',') })
      const made = createModels({ log: log as never }, settings)
      await made.warm()
      await made.close()
      return ready.splice(0)
    }
    const large = folder.write('large.gguf', Buffer.alloc(33_000_000))
    expect(await start(['countersign-tiny', `large=${large}`, `broken=${broken}`, 'missing'])).toEqual([
      'countersign-tiny',
    ])
    expect(await start([])).toEqual([])
  })

  it('answer by their version, until their file is another one', async () => {
    const { id } = await models.get().modelVersion()
    expect((await models.version(id)).model).toBe('countersign-tiny')
    await expect(models.version('countersign-tiny@0000000000000000')).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a backend', () => {
  it('runs operations in the process of the model', async () => {
    const input = { messages: [{ role: 'user' as const, content: 'Pay the invoice.' }] }
    const rendered = await models.get().call('render', { input }, { lane: 'a' })
    expect(rendered.texts.join('')).toContain('<|im_start|>user\nPay the invoice.<|im_end|>')
    expect(rendered.spans).toHaveLength(1)
    const run = await models.get().generate({ input, maxTokens: 4, sampling: GREEDY })
    expect(run.prompt).toEqual(rendered.tokens)
    expect(rendered.sha256).toBe((await models.get().modelVersion()).sha256)
  })

  it.each([
    ['readings without probes', 'bare', { canary: { onTrip: 'continue' as const } }, 'backend_capability_missing'],
    ['a file that is no model', 'broken', {}, 'service_unavailable'],
    ['a text beyond the context', 'countersign-tiny', { input: { text: 'word '.repeat(3_000) } }, 'invalid_request'],
  ])('refuses %s', async (_, model, changes, code) => {
    const request = { input: { text: 'Harbor' }, maxTokens: 1, sampling: GREEDY, ...changes }
    const refused = await models
      .get(model)
      .generate(request)
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Failure)
    expect(refused).toMatchObject({ code })
  })

  it('refuses an operation whose request is too large, before it is sent', async () => {
    const input = { text: 'x'.repeat(5_000_000) }
    await expect(models.get().call('render', { input })).rejects.toMatchObject({ code: 'invalid_request' })
  })
})
