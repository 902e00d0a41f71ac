import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import { neuronOf } from '#src/trace/shares/graph.ts'
import type { SharedGraph } from '#src/trace/shares/mask.ts'
import { truncateAddress } from '#src/trace/shares/view-rows.ts'
import type { TestCaller } from '../../support/callers.ts'
import { HOUR_MS, type Sharing, startSharing } from './service.ts'

let on: Sharing
let caller: TestCaller
beforeAll(async () => {
  on = await startSharing()
})
afterAll(() => on.close())
beforeEach(async () => {
  on.clock.now = undefined
  caller = await on.makeCaller()
})

const VERSION = 'countersign-tiny@9f86d081884c7d65'
const purge = () =>
  on.made.feature.retention
    ?.filter((rule) => rule.per === 'tenant')
    .find(({ what }) => what === 'trace_shares')
    ?.purge(caller, new Date(Date.now() + HOUR_MS), AbortSignal.timeout(60_000))
const codeOf = ({ status, json }: { status: number; json: Record<string, unknown> }) => [status, json.code]
const graphOf = (json: Record<string, unknown>) => json.graph as SharedGraph
const shownIn = (json: Record<string, unknown>) => graphOf(json).nodes.map(({ node_id }) => node_id)

// A seed of the graph.
const WITH_REPEATED_NEURON = 24

describe('a share', () => {
  it('shows the readings of a trace to the holder of its token, and nothing of whose trace it is', async () => {
    const traceId = await on.makeTrace(caller)
    const share = await on.share(caller, { trace_id: traceId })
    expect(share).toMatchObject({ status: 'active', job_id: null, masked_node_ids: [], disclosure_mode: 'manual' })
    expect(share.url).toBe(`${on.services.platform.baseUrl}/share#${share.token}`)
    const { status, json, headers } = await on.view(share.token)
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    expect(json).toMatchObject({
      share_id: share.share_id,
      trace: { trace_id: traceId },
      graph: null,
      disclosure: null,
    })
    expect(JSON.stringify(json)).not.toMatch(/a secret session|key_test|acc_/)
    const rows = await on.test.owner<{ row: string }>('SELECT to_jsonb(s)::text AS row FROM trace_shares s')
    expect(rows.some(({ row }) => row.includes(String(share.token)))).toBe(false)
    expect(rows.some(({ row }) => row.includes(sha256Hex(String(share.token))))).toBe(true)
    expect(await on.get(caller, `/v1/trace/shares/${share.share_id}`)).not.toHaveProperty('token')
  })

  it('gets another name and end with the same token, each in the audit log, and no end once it has ended', async () => {
    const traceId = await on.makeTrace(caller)
    const share = await on.share(caller, { trace_id: traceId, name: 'Incident' })
    const change = (json: Record<string, unknown>, headers: Record<string, string> = {}) =>
      on.call(caller, `/v1/trace/shares/${share.share_id}`, { method: 'PATCH', json, headers })
    const later = on.in(24 * 20)
    const key = { 'Idempotency-Key': 'one' }
    for (let time = 0; time < 2; time += 1) {
      const changed = await on.good(change({ name: ' Case 12 ', expires_at: later }, key))
      expect(changed).toMatchObject({ name: 'Case 12', expires_at: later, status: 'active' })
    }
    await on.good(change({ expires_at: later }))
    expect((await on.view(share.token)).json).toMatchObject({ expires_at: later })
    expect(JSON.stringify((await on.view(share.token)).json)).not.toContain('Case 12')
    expect(await on.good(change({ name: null }))).toMatchObject({ name: null, expires_at: later })
    for (const json of [
      { expires_at: on.in(-1) },
      { expires_at: on.in(24 * 400) },
      { name: '' },
      { status: 'active' },
    ]) {
      expect(codeOf(await change(json))).toEqual([400, 'invalid_request'])
    }
    const soon = on.in(1)
    await on.good(change({ expires_at: soon }))
    on.clock.now = new Date(Date.now() + 2 * HOUR_MS)
    expect((await on.view(share.token)).status).toBe(404)
    const ended = await change({ expires_at: on.in(5) })
    expect([...codeOf(ended), ended.json.current_status]).toEqual([409, 'invalid_state_transition', 'expired'])
    expect(await on.good(change({ name: 'Closed', expires_at: soon }))).toMatchObject({
      name: 'Closed',
      status: 'expired',
    })
    const entries = await on.test.owner<{ before: unknown; after: unknown }>(
      `SELECT before, after FROM audit_entries WHERE account_id = $1 AND action = 'share.changed' ORDER BY at, id`,
      [caller.accountId],
    )
    expect(entries.map(({ after }) => after)).toEqual([
      { name: 'Case 12', expires_at: later },
      { name: null, expires_at: later },
      { name: null, expires_at: soon },
      { name: 'Closed', expires_at: soon },
    ])
    expect(entries[0]?.before).toEqual({ name: 'Incident', expires_at: share.expires_at })
    const stranger = await on.makeCaller()
    const foreign = on.call(stranger, `/v1/trace/shares/${share.share_id}`, { method: 'PATCH', json: { name: 'Mine' } })
    expect(codeOf(await foreign)).toEqual([404, 'not_found'])
  })

  it('is not there without its token, after its end and while its account is closed or suspended', async () => {
    const traceId = await on.makeTrace(caller)
    const wanted = { trace_id: traceId, job_id: on.makeJob(traceId).jobId }
    const [revoked, expired, held] = [
      await on.share(caller, wanted),
      await on.share(caller, { ...wanted, expires_at: on.in(1) }),
      await on.share(caller, wanted),
    ]
    const reads = on.reads()
    const wrong = 'A'.repeat(43)
    for (const token of [undefined, '', 'x', wrong, `${held.token}=`]) {
      expect([token, ...codeOf(await on.view(token))]).toEqual([token, 404, 'not_found'])
    }
    expect(codeOf(await on.call({}, `/v1/trace/shares/view?token=${held.token}`))).toEqual([400, 'invalid_request'])
    await on.good(on.post(caller, `/v1/trace/shares/${revoked.share_id}/revoke`))
    expect((await on.view(revoked.token)).status).toBe(404)
    on.clock.now = new Date(Date.now() + 2 * 3_600_000)
    expect((await on.view(expired.token)).status).toBe(404)
    expect(await on.get(caller, `/v1/trace/shares/${expired.share_id}`)).toMatchObject({ status: 'expired' })
    // A graph is read for those who may see it.
    expect(on.reads()).toBe(reads)
    expect((await on.view(held.token)).status).toBe(200)
    expect(on.reads()).toBe(reads + 1)
    await on.test.owner('UPDATE accounts SET suspended_at = now(), suspension_reason = $2 WHERE id = $1', [
      caller.accountId,
      'r',
    ])
    expect((await on.view(held.token)).status).toBe(404)
  })

  it('is shown to its holder while others behind the same address guess tokens, whose guesses are refused', async () => {
    const { token } = await on.share(caller, { trace_id: await on.makeTrace(caller) })
    const headers = { 'X-Forwarded-For': '203.0.113.210' }
    const codes = new Map<string, number>()
    for (let guess = 0; guess < 310; guess += 1) {
      const { json } = await on.view(String(guess).padStart(43, 'A'), { headers })
      codes.set(String(json.code), (codes.get(String(json.code)) ?? 0) + 1)
    }
    expect(Object.fromEntries(codes)).toEqual({ not_found: 300, rate_limited: 10 })
    expect((await on.view(token, { headers })).status).toBe(200)
  })

  it('is made once for an Idempotency-Key, whose replay has no token', async () => {
    const body = { trace_id: await on.makeTrace(caller), expires_at: on.in(5) }
    const [first, second] = [
      await on.send(caller, body, { 'Idempotency-Key': 'k' }),
      await on.send(caller, body, { 'Idempotency-Key': 'k' }),
    ]
    expect(second.json).toMatchObject({ share_id: first.json.share_id, secret_shown: false })
    expect(second.json).not.toHaveProperty('token')
    expect((await on.get(caller, '/v1/trace/shares')).data).toHaveLength(1)
  })

  it('writes each view down, with the network and without the address, page by page', async () => {
    const share = await on.share(caller, { trace_id: await on.makeTrace(caller) })
    for (const ip of ['203.0.113.77', '2001:db8:1:2::9', '203.0.113.78']) {
      expect((await on.view(share.token, { headers: { 'X-Forwarded-For': ip } })).status).toBe(200)
    }
    const path = `/v1/trace/shares/${share.share_id}/views`
    const first = await on.get(caller, `${path}?limit=2&include=total_count`)
    const rest = await on.get(caller, `${path}?limit=2&cursor=${first.next_cursor}`)
    expect(first).toMatchObject({ has_more: true, total_count: 3 })
    expect([first, rest].flatMap(({ data }) => data)).toMatchObject(
      ['203.0.113.0/24', '2001:db8:1::/48', '203.0.113.0/24'].map((network) => ({
        network,
        share_id: share.share_id,
        request_id: null,
        graph: false,
        disclosed_nodes: 0,
      })),
    )
    expect(truncateAddress('::ffff:203.0.113.9')).toBe('203.0.113.0/24')
    expect(truncateAddress('nonsense')).toBe('unknown')
    const stranger = await on.makeCaller()
    expect(codeOf(await on.call(stranger, path))).toEqual([404, 'not_found'])
  })

  it('takes as many masked neurons and layers as its limits say', async () => {
    const traceId = await on.makeTrace(caller)
    const { jobId, neurons } = on.makeJob(traceId)
    const layers = Array.from({ length: 1_000 }, (_, layer) => layer)
    await on.share(caller, {
      trace_id: traceId,
      job_id: jobId,
      scope_kind: 'trace',
      masked_node_ids: Array(1_000).fill(neurons[0]),
      mask_rule: { layers, label_pattern: 'x', top_influence: 1 },
      reveal: ['layer', 'position'],
      disclosure_mode: 'manual',
    })
  })

  it('is refused without what it needs', async () => {
    const traceId = await on.makeTrace(caller)
    const other = await on.makeTrace(caller)
    const { jobId } = on.makeJob(traceId)
    const refused: [Record<string, unknown>, unknown[]][] = [
      [{ trace_id: 'trc_test_01m7x7k7d2e6ts0a9n3v8wq5hc' }, [404, 'not_found']],
      [{ trace_id: traceId, masked_node_ids: ['0_1_1'] }, [400, '/job_id']],
      [{ trace_id: traceId, job_id: 'job_test_01m7x7k7d2e6ts0a9n3v8wq5hc' }, [404, 'not_found']],
      [{ trace_id: other, job_id: jobId }, [400, '/job_id']],
      [{ trace_id: traceId, job_id: jobId, masked_node_ids: ['R_0_0'] }, [400, '/masked_node_ids/0']],
      [{ trace_id: traceId, job_id: jobId, mask_rule: {} }, [400, '/mask_rule']],
      [
        { trace_id: traceId, job_id: jobId, mask_rule: { label_pattern: 'x{999}{999}' } },
        [400, '/mask_rule/label_pattern'],
      ],
      [{ trace_id: traceId, job_id: jobId, scope_kind: 'model_version' }, [400, '/scope_kind']],
      [{ trace_id: traceId, expires_at: on.in(-1) }, [400, '/expires_at']],
      [{ trace_id: traceId, expires_at: on.in(24 * 400) }, [400, '/expires_at']],
    ]
    for (const [body, expected] of refused) {
      const { status, json } = await on.send(caller, body)
      const [finding] = (json.errors ?? []) as { pointer: string }[]
      expect([body, status, finding?.pointer ?? json.code]).toEqual([body, ...expected])
    }
    const reader = await on.signIn(caller.accountId, { role: 'analyst' })
    const sent = { method: 'POST', headers: reader.headers, json: { trace_id: traceId, expires_at: on.in(1) } }
    expect(codeOf(await on.call({}, '/v1/trace/shares', sent))).toEqual([403, 'insufficient_role'])
  })
})

describe('a share without reveals_prompt', () => {
  const LONG = { positions: 20 }
  const BY_MESSAGE = { reveals_prompt: false }
  const make = async () => {
    const traceId = await on.makeTrace(caller)
    const { jobId, manifest, neurons } = on.makeJob(traceId, 3, LONG)
    // Of the last position, above the first layer: the ones that it shows.
    const shown = neurons.filter((id) => id.endsWith('_19') && !id.startsWith('0_'))
    return { wanted: { trace_id: traceId, job_id: jobId }, manifest, neurons, shown }
  }
  const placesIn = (json: Record<string, unknown>) => [...new Set(graphOf(json).nodes.map(({ ctx_idx }) => ctx_idx))]

  it('is the default, also of those that were made before there was a choice, and shows no position', async () => {
    const { wanted, shown } = await make()
    const made = await on.good(on.post(caller, '/v1/trace/shares', { ...wanted, expires_at: on.in(1) }))
    expect(made.reveals_prompt).toBe(false)
    const { json } = await on.view(made.token)
    expect([json.reveals_prompt, placesIn(json)]).toEqual([false, [0]])
    expect(shownIn(json).filter((id) => /^\d/.test(id))).toEqual(shown.map((id) => `${neuronOf(id)}_0`).toSorted())
    expect(graphOf(json).metadata.prompt_tokens).toEqual(['text'])
    const old = await on.share(caller, wanted)
    expect([old.reveals_prompt, placesIn((await on.view(old.token)).json)]).toEqual([true, expect.arrayContaining([7])])
    await on.test.owner('UPDATE trace_shares SET reveals_prompt = DEFAULT WHERE id = $1', [old.share_id])
    expect(placesIn((await on.view(old.token)).json)).toEqual([0])
  })

  it('is refused for a text that can be tried as a whole, and one that was made before shows no graph of it', async () => {
    const traceId = await on.makeTrace(caller)
    const { jobId, neurons } = on.makeJob(traceId, 3, { positions: 15 })
    const body = { trace_id: traceId, job_id: jobId, masked_node_ids: neurons.slice(0, 1) }
    const { status, json } = await on.send(caller, { ...body, ...BY_MESSAGE })
    expect([status, (json.errors as unknown[])[0]]).toMatchObject([
      400,
      { pointer: '/reveals_prompt', code: 'required' },
    ])
    const old = await on.share(caller, body)
    await on.test.owner('UPDATE trace_shares SET reveals_prompt = DEFAULT WHERE id = $1', [old.share_id])
    expect((await on.view(old.token)).json).toMatchObject({ graph: null, masked_nodes: 0, reveals_prompt: false })
    const log = await on.get(caller, `/v1/trace/shares/${old.share_id}/views`)
    expect(log.data).toMatchObject([{ graph: false, masked_nodes: 0 }])
    // Readings say nothing of single positions.
    expect((await on.send(caller, { trace_id: traceId, ...BY_MESSAGE })).status).toBe(200)
  })

  it('keeps its mask: no other share of the trace shows positions, be it made before or after', async () => {
    const { wanted, neurons } = await make()
    const open = await on.share(caller, wanted)
    expect(placesIn((await on.view(open.token)).json).length).toBeGreaterThan(1)
    const masked = { ...wanted, ...BY_MESSAGE, masked_node_ids: neurons.slice(0, 1) }
    const share = await on.share(caller, masked)
    const { json } = await on.view(open.token)
    expect([json.reveals_prompt, placesIn(json)]).toEqual([false, [0]])
    const refused = await on.send(caller, wanted)
    expect([...codeOf(refused), String(refused.json.detail).includes(String(share.share_id))]).toEqual([
      409,
      'conflict',
      true,
    ])
    await on.good(on.post(caller, `/v1/trace/shares/${share.share_id}/revoke`))
    expect(codeOf(await on.send(caller, wanted))).toEqual([409, 'conflict'])
    expect((await on.send(caller, { ...wanted, ...BY_MESSAGE })).status).toBe(200)
    const entries = await on.test.owner<{ after: Record<string, unknown> }>(
      "SELECT after FROM audit_entries WHERE action = 'share.created' AND subject_id = ANY($1) ORDER BY id",
      [[open.share_id, share.share_id]],
    )
    expect(entries.map(({ after }) => after.reveals_prompt)).toEqual([true, false])
  })

  it('made at the same time as one that reveals the prompt, keeps its mask too', async () => {
    const { wanted, neurons } = await make()
    const masked = { ...wanted, ...BY_MESSAGE, masked_node_ids: neurons.slice(0, 1) }
    const made = await Promise.all([masked, wanted, wanted, wanted].map((body) => on.send(caller, body)))
    expect(made[0]?.status).toBe(200)
    for (const { status, json } of made.filter(({ status }) => status === 200)) {
      expect([status, placesIn((await on.view(json.token)).json)]).toEqual([200, [0]])
    }
  })

  it('shows a granted person what it shows anyway of the last position, and no position', async () => {
    const { wanted, neurons, shown } = await make()
    const [first = '', second = ''] = shown
    const [early = ''] = neurons
    const share = await on.share(caller, { ...wanted, ...BY_MESSAGE, masked_node_ids: [early, first] })
    const before = (await on.view(share.token)).json
    expect([before.masked_nodes, shownIn(before).includes(`${neuronOf(second)}_0`)]).toEqual([2, true])
    expect(shownIn(before)).not.toContain(`${neuronOf(first)}_0`)
    const email = 'reader.of.messages@example.org'
    await on.good(on.decide(caller, await on.ask(share, email), 'grant'))
    const { json } = await on.view(await on.grantTo(email))
    expect(json).toMatchObject({
      masked_nodes: 0,
      reveals_prompt: false,
      disclosure: { node_ids: [`${neuronOf(first)}_0`] },
    })
    expect([placesIn(json), shownIn(json).includes(`${neuronOf(first)}_0`)]).toEqual([[0], true])
    expect(JSON.stringify(json)).not.toContain(`"${neuronOf(early)}_`)
  })
})

describe('the masks of a trace', () => {
  it('are one: a later share masks what earlier ones do, and they what it does', async () => {
    const traceId = await on.makeTrace(caller)
    const { jobId, neurons } = on.makeJob(traceId)
    const [a = '', b = ''] = neurons
    const first = await on.share(caller, { trace_id: traceId, job_id: jobId, masked_node_ids: [a] })
    const before = (await on.view(first.token)).json
    expect([before.masked_nodes, shownIn(before).includes(a), shownIn(before).includes(b)]).toEqual([1, false, true])
    const second = await on.share(caller, { trace_id: traceId, job_id: jobId, masked_node_ids: [b] })
    expect(second).toMatchObject({ masked_node_ids: [a, b].toSorted(), shown_before: 1 })
    const views = await Promise.all([first, second].map(async ({ token }) => (await on.view(token)).json))
    for (const json of views) expect([shownIn(json).includes(a), shownIn(json).includes(b)]).toEqual([false, false])
    // Names of masked neurons and of logits are each share's own; everything else is the same.
    const links = views.map((json) =>
      graphOf(json)
        .links.map(({ weight }) => weight)
        .toSorted(),
    )
    expect(links[1]).toEqual(links[0])
    // The end of a share takes nothing from its mask.
    await on.good(on.post(caller, `/v1/trace/shares/${second.share_id}/revoke`))
    expect(shownIn((await on.view(first.token)).json)).not.toContain(b)
  })

  it('are of one graph, and a grant of one share bypasses no decision about another', async () => {
    const traceId = await on.makeTrace(caller)
    const { jobId, neurons } = on.makeJob(traceId)
    const share = { trace_id: traceId, job_id: jobId }
    await on.share(caller, { ...share, masked_node_ids: neurons.slice(0, 1) })
    const other = on.makeJob(traceId, 2)
    const refused = await on.send(caller, { trace_id: traceId, job_id: other.jobId })
    expect([...codeOf(refused), String(refused.json.detail).includes(jobId)]).toEqual([409, 'conflict', true])
    expect(codeOf(await on.send(caller, { ...share, disclosure_mode: 'auto' }))).toEqual([409, 'conflict'])
    expect((await on.send(caller, { trace_id: traceId })).status).toBe(200)
    // Without a graph nothing is masked, and nothing disclosed.
    expect((await on.send(caller, { trace_id: traceId, disclosure_mode: 'auto' })).status).toBe(200)
  })

  it('of a model version hide a neuron in every share of it, at every position', async () => {
    const [one, two] = [await on.makeTrace(caller, VERSION), await on.makeTrace(caller, VERSION)]
    const { jobId, neurons, manifest } = on.makeJob(one, WITH_REPEATED_NEURON)
    const again = on.makeJob(two, WITH_REPEATED_NEURON)
    const [[a = '', ...others] = []] = [...Map.groupBy(neurons, neuronOf).values()].filter((ids) => ids.length > 1)
    expect(others, 'a neuron that is in the graph at another position too').not.toEqual([])
    const neuron = neuronOf(a)
    const earlier = await on.share(caller, { trace_id: two, job_id: again.jobId })
    expect(shownIn((await on.view(earlier.token)).json)).toContain(a)
    const wanted = { trace_id: one, job_id: jobId, scope_kind: 'model_version', masked_node_ids: [a] }
    const { masked_node_ids: granted } = await on.share(caller, wanted)
    // What a grant shows is what the mask hides.
    const ids = manifest.nodes.map(({ node_id }) => node_id).filter((id) => id.startsWith(`${neuron}_`))
    expect(granted).toEqual(ids.toSorted())
    const shown = (await on.view(earlier.token)).json
    expect(manifest.nodes.some(({ node_id }) => node_id.startsWith(`${neuron}_`))).toBe(true)
    expect(shownIn(shown).filter((id) => id.startsWith(`${neuron}_`))).toEqual([])
    expect(shown.masked_nodes).toBeGreaterThan(0)
  })

  it('of a model version hide it in every later share, also when the share has ended and its trace is no longer kept', async () => {
    const [one, two, three] = [
      await on.makeTrace(caller, VERSION),
      await on.makeTrace(caller, VERSION),
      await on.makeTrace(caller, VERSION),
    ]
    const { jobId, neurons } = on.makeJob(one)
    const masked = neurons.slice(0, 1)
    const body = { trace_id: one, job_id: jobId, scope_kind: 'model_version', masked_node_ids: masked }
    const { share_id: id } = await on.share(caller, body)
    expect(await purge()).toBe(0)
    const next = await on.share(caller, { trace_id: two, job_id: on.makeJob(two).jobId })
    expect(next.masked_node_ids).toEqual(expect.arrayContaining(masked))
    await on.test.owner('UPDATE trace_shares SET expires_at = now() WHERE id = $1', [id])
    await on.test.owner('DELETE FROM traces WHERE id = $1', [one])
    // The one that masks nothing by itself goes.
    expect(await purge()).toBe(1)
    expect(await purge()).toBe(0)
    const last = await on.share(caller, { trace_id: three, job_id: on.makeJob(three).jobId })
    expect(last.masked_node_ids).toEqual(expect.arrayContaining(masked))
  })

  it('of a trace are kept as long as the trace is', async () => {
    const traceId = await on.makeTrace(caller)
    const { jobId, neurons } = on.makeJob(traceId)
    await on.share(caller, { trace_id: traceId, job_id: jobId, masked_node_ids: neurons.slice(0, 1) })
    expect(await purge()).toBe(0)
    await on.test.owner('DELETE FROM traces WHERE id = $1', [traceId])
    expect(await purge()).toBe(1)
  })

  it('grow one after the other: of two shares at the same time one inherits from the other', async () => {
    const traceId = await on.makeTrace(caller)
    const { jobId, neurons } = on.makeJob(traceId)
    const made = await Promise.all(
      neurons.slice(0, 4).map((id) => on.share(caller, { trace_id: traceId, job_id: jobId, masked_node_ids: [id] })),
    )
    expect(made.map(({ masked_node_ids: ids }) => (ids as string[]).length).toSorted()).toEqual([1, 2, 3, 4])
  })
})
