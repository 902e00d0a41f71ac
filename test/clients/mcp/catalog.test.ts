// Which tools there are: what they cost a model, what the options choose, and that none consents for people or shows a secret.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EXCEPTIONS } from '../../../clients/exceptions.ts'
import { readDocument } from '../../../clients/generate/document.ts'
import { judge } from '../../../clients/generate/judgement.ts'
import { type Api, type Operation, readApi, sdkOf } from '../../../clients/generate/operations.ts'
import { createCaller } from '../../../clients/mcp/src/calls/caller.ts'
import { EXCLUDED, OPERATIONS } from '../../../clients/mcp/src/generated/operations.ts'
import { readOptions, SCOPES, USAGE, UsageError } from '../../../clients/mcp/src/options.ts'
import { createServer } from '../../../clients/mcp/src/server.ts'
import { createCatalog, inputOf, type Selection, validatorOf } from '../../../clients/mcp/src/tools/catalog.ts'
import { DEFAULT_TOOLS } from '../../../clients/mcp/src/tools/defaults.ts'
import { CALL, FIND, findOperations } from '../../../clients/mcp/src/tools/find.ts'
import { connect } from './connect.ts'

const api = readApi(await readDocument(), EXCEPTIONS)
const ALL: Selection = { toolsets: [], tools: [], isReadOnly: false, scopes: undefined }
const MAX_TOKENS = 12_000
const BYTES_A_TOKEN = 4

const catalogOf = (words: string[]) => createCatalog(readOptions(words) as Selection)
const namesOf = (words: string[]) => catalogOf(words).tools.map(({ operation }) => operation.tool)

describe('the judgement', () => {
  it('is made of every operation: it is allowed, or has a reason', () => {
    const names = api.operations.map(sdkOf).sort()
    expect([...OPERATIONS.map(({ name }) => name), ...Object.keys(EXCLUDED)].sort()).toEqual(names)
    for (const [name, reason] of Object.entries(EXCLUDED)) expect(reason, name).toMatch(/^[A-Z].{15,}\.$/)
  })

  // The walk does not use the lists of the judgement: these words say what no model may do, in the names of operations.
  it('allows nothing that consents for people, grants, lifts a stop, signs in or makes a secret', () => {
    const forbidden =
      /\.(?:approve|deny|grant|clear|unsuspend|resume|rotate\w*|invite|accept|register|verifyDomain|heartbeat|transition)$/
    const creating =
      /^(?:mandates|schedules|agents|webhooks|account\.keys|passkeys|auth|org|trace\.shares|policy|devices|media)\b.*\.(?:create|update|rollback|upload|attest)$/
    const people = /^(?:auth|passkeys|org\.invites|policy\.webhookSecret|account\.exports|account\.closure)\./
    const allowed = OPERATIONS.filter(({ name }) => [forbidden, creating, people].some((one) => one.test(name)))
    // A session is the agent's own, and a recovery sends again what an endpoint was to get.
    expect(allowed.map(({ name }) => name)).toEqual(['agents.sessions.create', 'webhooks.recoveries.create'])
    const excluded = Object.keys(EXCLUDED)
    for (const one of [forbidden, creating, people])
      expect(excluded.filter((name) => one.test(name)).length).toBeGreaterThan(4)
  })

  it('lets no tool speak for a person, or bring the assertion of a passkey', () => {
    const texts = OPERATIONS.map((operation) => [operation.name, JSON.stringify(inputOf(operation))] as const)
    expect(
      texts.filter(([, text]) => /"(?:actor|approver|passkey_assertion)":/.test(text)).map(([name]) => name),
    ).toEqual([])
  })

  const withOperation = (change: Partial<Operation>): Api => {
    const source = api.operations.find((one) => sdkOf(one) === 'claims.retrieve')
    if (source === undefined) throw new Error('no operation claims.retrieve')
    return { ...api, operations: [...api.operations, { ...source, group: ['claims'], name: 'later', ...change }] }
  }

  it('is missing for a new change, for a read that changes something, and for a group that is new', () => {
    for (const change of [
      { method: 'POST', effect: 'write' },
      { method: 'POST', effect: 'read' },
      { method: 'GET', effect: 'write' },
      { method: 'DELETE', effect: 'destructive' },
      { group: ['payments'] },
    ] as Partial<Operation>[]) {
      expect(() => judge(withOperation(change))).toThrow(/later is not judged/)
    }
    expect(judge(withOperation({})).allowed.map(sdkOf)).toContain('claims.later')
  })

  it('refuses a new read whose answer has a member that is a secret by its name, at any depth', () => {
    for (const name of ['signing_secret', 'token', 'nonce', 'private_key', 'csrf_token']) {
      const inner = { kind: 'object', bases: [], members: [{ name, shape: { kind: 'text' } }] } as const
      const outer = { kind: 'object', bases: [], members: [{ name: 'data', shape: { kind: 'list', item: inner } }] }
      const answer = { kind: 'json', shape: outer } as unknown as Operation['answer']
      expect(() => judge(withOperation({ answer }))).toThrow(`claims.later ${name}`)
    }
  })

  it('refuses an entry that judges nothing', () => {
    const less = { ...api, operations: api.operations.filter((one) => sdkOf(one) !== 'approvals.approve') }
    expect(() => judge(less)).toThrow('approvals.approve')
  })
})

describe('the default tools', () => {
  const catalog = createCatalog(ALL)
  const caller = createCaller({ baseUrl: 'http://127.0.0.1:1', apiKey: 'svc_test_nobody' })

  it('are 24, and cost a model at most 12,000 tokens together with the two that reach the rest', async () => {
    const { client, close } = await connect(() => createServer({ catalog, caller }), 'modern')
    const { tools } = await client.listTools()
    await close()
    expect(tools.length).toBe(26)
    expect(tools.slice(-2).map(({ name }) => name)).toEqual(['find_operations', 'call_operation'])
    const bytes = Buffer.byteLength(JSON.stringify(tools)) + Buffer.byteLength(client.getInstructions() ?? '')
    expect(bytes).toBeLessThan(MAX_TOKENS * BYTES_A_TOKEN)
    for (const { name, annotations } of tools) expect(annotations, name).toHaveProperty('readOnlyHint')
  })

  it('have arguments that their operations have, and those that these require', () => {
    for (const { operation: name, arguments: chosen, plain = [] } of DEFAULT_TOOLS) {
      const operation = OPERATIONS.find((one) => one.name === name)
      const known = Object.keys(operation?.input.properties ?? {})
      expect(
        [...(chosen ?? []), ...plain].filter((one) => !known.includes(one)),
        name,
      ).toEqual([])
      const required = operation?.input.required ?? []
      expect(chosen === undefined ? [] : required.filter((one) => !chosen.includes(one)), name).toEqual([])
    }
  })

  it('are annotated by the effect of their route', async () => {
    const { client, close } = await connect(
      () => createServer({ catalog: catalogOf(['--toolsets', 'all']), caller }),
      'legacy',
    )
    const { tools } = await client.listTools()
    await close()
    const shown = new Map(tools.map(({ name, annotations }) => [name, annotations]))
    for (const { tool, effect } of OPERATIONS) {
      expect(shown.get(tool), tool).toMatchObject({ readOnlyHint: effect === 'read' })
      if (effect !== 'read') expect(shown.get(tool), tool).toMatchObject({ destructiveHint: effect === 'destructive' })
    }
    for (const name of ['revoke_intents', 'suspend_agent', 'stop_intents', 'erase_claim', 'delete_eval_set']) {
      expect(shown.get(name), name).toMatchObject({ destructiveHint: true })
    }
  })

  it('have schemas that the validator compiles, as every operation has', async () => {
    for (const operation of OPERATIONS) {
      const { issues } = await validatorOf(operation.name, () => inputOf(operation))({ no_such_argument: 1 })
      expect(issues, operation.name).toContain('additional')
    }
  })
})

describe('the options', () => {
  it('add the operations of groups, or single ones, behind the default tools', () => {
    const defaults = namesOf([])
    expect(namesOf(['--toolsets', 'devices, mandates'])).toEqual([
      ...defaults,
      ...['count_devices', 'get_device_history', 'list_devices', 'get_device', 'revoke_device'],
      ...['list_root_cas', 'get_root_ca', 'revoke_mandate', 'get_mandate_spend'],
    ])
    expect(namesOf(['--tools', 'list_devices,list_claims'])).toEqual([...defaults, 'list_devices'])
    expect(namesOf(['--toolsets', 'all']).length).toBe(OPERATIONS.length)
  })

  it('leave out what changes something, and what the key may not do, for call_operation too', () => {
    const reading = catalogOf(['--read-only', '--toolsets', 'all'])
    expect(reading.operations.filter(({ effect }) => effect !== 'read')).toEqual([])
    expect(reading.find('intent.verify')).toBeUndefined()
    const narrow = catalogOf(['--scopes', 'verify'])
    expect(new Set(narrow.operations.map(({ scope }) => scope))).toEqual(new Set(['verify', null]))
    expect(narrow.tools.map(({ operation }) => operation.tool)).toContain('verify_intent')
    expect(narrow.tools.map(({ operation }) => operation.tool)).not.toContain('authorize_intent')
  })

  it.each([
    [['--toolsets', 'claims,payments'], 'unknown toolset payments; known are all, '],
    [['--tools', 'approve_action'], 'unknown tool approve_action; known are list_audit_entries, '],
    [['--scopes', 'root'], `unknown scope root; known are ${SCOPES.join(', ')}`],
    [['--toolset', 'claims'], 'unknown option; known are --toolsets, '],
    [['claims'], 'unknown option'],
    [['--tools'], '--tools needs a value'],
    [['--port', '80'], '--host and --port go with --http'],
    [['--http', '--port', '99999'], '--port is a number'],
  ])('%j refuses to start, with the list of what is known', (words, message) => {
    expect(() => readOptions(words)).toThrow(UsageError)
    expect(() => readOptions(words)).toThrow(message)
  })

  it('are never repeated where they look like a key', () => {
    for (const words of [
      ['--key', 'svc_live_hunter2'],
      ['svc_live_hunter2'],
      ['--key=svc_live_hunter2'],
      ['--tools', 'svc_live_hunter2'],
    ]) {
      const message = (() => {
        try {
          return String(readOptions(words))
        } catch (error) {
          return String(error)
        }
      })()
      expect(message).toContain('UsageError')
      expect(message).not.toContain('hunter2')
    }
  })
})

describe('find_operations', () => {
  const catalog = createCatalog(ALL)

  it('finds by words of names and summaries, with the arguments', () => {
    const first = (query: string) => findOperations(catalog, query).operations[0]
    const spend = findOperations(catalog, 'spend of a mandate').operations.slice(0, 2)
    expect(spend.map(({ operation }) => operation)).toContain('mandates.spend.retrieve')
    expect(first('list devices')?.operation).toBe('devices.list')
    expect(first('retry attestation')).toMatchObject({
      operation: 'claims.attestations.retry',
      effect: 'write',
      scope: 'attest',
      arguments: { properties: { attestation_id: { type: 'string' } }, required: ['attestation_id'] },
    })
    expect(first('xyzzy')).toBeUndefined()
  })

  it('says of what is no tool why not', () => {
    const { not_available: reasons } = findOperations(catalog, 'approvals approve')
    expect(reasons[0]).toEqual({ operation: 'approvals.approve', reason: EXCLUDED['approvals.approve'] })
  })
})

describe.each(['docs/reference/mcp.md', 'clients/mcp/README.md'])('%s', (page) => {
  const text = readFileSync(join(import.meta.dirname, '../../..', page), 'utf8')

  it('shows the default tools', () => {
    const [, table = ''] = /\n## Tools\n\n(\|[\s\S]+?)\n\n/.exec(text) ?? []
    const shown = [...table.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name]) => name)
    expect(shown).toEqual([...createCatalog(ALL).tools.map(({ operation }) => operation.tool), FIND.name, CALL.name])
  })

  it('shows each option', () => {
    const shown = [...text.matchAll(/^\| .*$/gm)].flatMap(([row]) =>
      [...row.matchAll(/--[a-z][a-z-]+/g)].map(([option]) => option),
    )
    const listed = [...USAGE.matchAll(/--[a-z][a-z-]+/g)].map(([option]) => option)
    expect(new Set([...shown, '--host', '--port'])).toEqual(new Set(listed))
  })

  it('configures hosts in one way', () => {
    const blocks = [...text.matchAll(/```json\n([\s\S]+?)```/g)].map(([, block = '']) => JSON.parse(block))
    expect(blocks.length).toBeGreaterThan(0)
    for (const { mcpServers, servers } of blocks) {
      const { command, args, env } = (mcpServers ?? servers).countersign
      expect([command, ...args]).toEqual(['npx', '-y', '@countersign/mcp'])
      expect(Object.keys(env)).toEqual(['COUNTERSIGN_BASE_URL', 'COUNTERSIGN_API_KEY'])
    }
  })
})
