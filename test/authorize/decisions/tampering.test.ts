import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHECKPOINT_TYP } from '#client/verify/checkpoint.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { appendLeaves, EMPTY_TREE, frontierBytes, leafHash, rootOf } from '#src/platform/ledger/merkle.ts'
import { decisions } from '../../support/ledger.ts'
import { type LedgerService, startLedgerService } from './fixture.ts'

// A superuser of Postgres changes rows below the service. Who finds it: the service's own check (`found`), and a stranger
// with an export and the published keys (`seen`).

const HOUR_MS = 3_600_000

interface Tamper {
  title: string
  change(ledger: Attacked): Promise<unknown>
  found: string[]
  seen: string[]
}

interface Attacked {
  scope: Scope
  ids: string[]
  run(text: string, values?: unknown[]): Promise<unknown>
}

const OF = (scope: Scope) => `account_id = '${scope.accountId}'`
const EDITED = `replace(entry, '"valid":true', '"valid":false')`

const TAMPERS: Tamper[] = [
  {
    title: 'an edited entry',
    change: ({ run, ids }) => run(`UPDATE decisions SET entry = ${EDITED} WHERE id = $1`, [ids[300]]),
    found: ['entry_changed'],
    seen: ['entry'],
  },
  {
    title: 'an edited entry with a fitting hash',
    change: ({ run, ids }) =>
      run(
        `UPDATE decisions SET entry = ${EDITED}, entry_sha256 = sha256(convert_to(${EDITED}, 'UTF8')) WHERE id = $1`,
        [ids[300]],
      ),
    found: ['leaf_changed'],
    seen: ['leaf'],
  },
  {
    title: 'an edited entry with a fitting hash and leaf',
    change: async ({ run, ids }) => {
      await run(
        `UPDATE decisions SET entry = ${EDITED}, entry_sha256 = sha256(convert_to(${EDITED}, 'UTF8')) WHERE id = $1`,
        [ids[300]],
      )
      await run(
        `UPDATE ledger_leaves SET leaf_sha256 = sha256('\\x00'::bytea || (SELECT entry_sha256 FROM decisions WHERE id = $1))
         WHERE decision_id = $1`,
        [ids[300]],
      )
    },
    found: ['checkpoint_forked', 'node_changed'],
    seen: ['checkpoint'],
  },
  {
    title: 'two entries that changed places',
    change: async ({ run, scope }) => {
      await run(`UPDATE ledger_leaves SET position = 1000000 WHERE ${OF(scope)} AND position = 4`)
      await run(`UPDATE ledger_leaves SET position = 4 WHERE ${OF(scope)} AND position = 5`)
      await run(`UPDATE ledger_leaves SET position = 5 WHERE ${OF(scope)} AND position = 1000000`)
    },
    found: ['checkpoint_forked', 'node_changed'],
    seen: ['checkpoint'],
  },
  {
    title: 'a removed entry, whose leaf stayed',
    change: ({ run, ids }) => run(`DELETE FROM decisions WHERE id = $1`, [ids[500]]),
    found: ['entry_removed'],
    seen: ['removed'],
  },
  {
    title: 'a removed entry, whose leaf claims to be as old as what retention deletes',
    change: async ({ run, ids }) => {
      await run(`DELETE FROM decisions WHERE id = $1`, [ids[500]])
      const old = newId('dec', 'sandbox', Date.now() - 1_000 * HOUR_MS)
      await run(`UPDATE ledger_leaves SET decision_id = $2 WHERE decision_id = $1`, [ids[500], old])
    },
    found: ['entry_removed'],
    seen: ['removed'],
  },
  {
    title: 'a removed entry, whose leaf has no time',
    change: async ({ run, ids }) => {
      await run(`DELETE FROM decisions WHERE id = $1`, [ids[500]])
      await run(`UPDATE ledger_leaves SET decision_id = 'dec_test_x' WHERE decision_id = $1`, [ids[500]])
    },
    found: ['entry_removed'],
    seen: ['removed'],
  },
  {
    title: 'an entry that its jti, its kind, its time or its agent no longer finds',
    change: async ({ run, ids }) => {
      await run(`UPDATE decisions SET jti = 'jti_test_other' WHERE id = $1`, [ids[300]])
      await run(`UPDATE decisions SET kind = 'lock' WHERE id = $1`, [ids[301]])
      await run(`UPDATE decisions SET at = at - interval '1 year' WHERE id = $1`, [ids[302]])
      await run(`UPDATE decisions SET reason = 'other' WHERE id = $1`, [ids[303]])
      await run(`UPDATE decisions SET agent_id = 'agt_test_other' WHERE id = $1`, [ids[304]])
    },
    found: ['entry_misplaced'],
    // Nothing of it is exported.
    seen: [],
  },
  {
    title: 'two entries that changed their ids',
    change: async ({ run, ids }) => {
      for (const [table, column] of [
        ['decisions', 'id'],
        ['ledger_leaves', 'decision_id'],
      ]) {
        await run(`UPDATE ${table} SET ${column} = 'dec_test_x' WHERE ${column} = $1`, [ids[300]])
        await run(`UPDATE ${table} SET ${column} = $1 WHERE ${column} = $2`, [ids[300], ids[301]])
        await run(`UPDATE ${table} SET ${column} = $1 WHERE ${column} = 'dec_test_x'`, [ids[301]])
      }
    },
    found: ['entry_misplaced'],
    seen: [],
  },
  {
    title: 'an entry that was removed with its leaf',
    change: async ({ run, ids }) => {
      await run(`DELETE FROM decisions WHERE id = $1`, [ids[300]])
      await run(`DELETE FROM ledger_leaves WHERE decision_id = $1`, [ids[300]])
    },
    found: ['leaf_missing'],
    seen: ['complete', 'order'],
  },
  {
    title: 'an entry that was added without the service',
    change: ({ run, ids }) =>
      run(
        `INSERT INTO decisions (account_id, environment, id, kind, at, entry, entry_sha256)
         SELECT account_id, environment, $2, kind, at, entry, entry_sha256 FROM decisions WHERE id = $1`,
        [ids[300], newId('dec', 'sandbox', Date.now() - 3 * HOUR_MS)],
      ),
    found: ['entry_unlogged'],
    // It is not part of the log.
    seen: [],
  },
  {
    title: 'a log without its last leaves',
    change: async ({ run, scope }) => {
      await run(
        `DELETE FROM decisions WHERE id IN (SELECT decision_id FROM ledger_leaves WHERE ${OF(scope)} AND position >= 590)`,
      )
      await run(`DELETE FROM ledger_leaves WHERE ${OF(scope)} AND position >= 590`)
    },
    found: ['leaf_missing'],
    seen: ['complete', 'checkpoint'],
  },
  {
    title: 'a log without its last leaves, with a fitting head',
    change: async ({ run, scope }) => {
      await run(
        `DELETE FROM decisions WHERE id IN (SELECT decision_id FROM ledger_leaves WHERE ${OF(scope)} AND position >= 300)`,
      )
      await run(`DELETE FROM ledger_leaves WHERE ${OF(scope)} AND position >= 300`)
      await run(`DELETE FROM ledger_nodes WHERE ${OF(scope)} AND position >= 1`)
      await rewriteHead(scope, run)
    },
    found: ['log_shortened'],
    seen: ['complete', 'checkpoint'],
  },
]

let run: Attacked['run']

// As the attacker computes it.
async function rewriteHead(scope: Scope, query: Attacked['run']): Promise<{ size: number; root: Buffer }> {
  const leaves = (await query(
    `SELECT leaf_sha256 AS leaf FROM ledger_leaves WHERE ${OF(scope)} ORDER BY position`,
  )) as {
    leaf: Buffer
  }[]
  const { tree } = appendLeaves(
    EMPTY_TREE,
    leaves.map(({ leaf }) => leaf),
  )
  await query(`UPDATE ledger_heads SET checkpoint_size = 0, size = $1, frontier_sha256 = $2 WHERE ${OF(scope)}`, [
    tree.size,
    frontierBytes(tree),
  ])
  return { size: tree.size, root: rootOf(tree) }
}

describe('a change below the service', () => {
  let service: LedgerService
  let directory: string

  beforeAll(async () => {
    service = await startLedgerService()
    run = (text, values) => service.test.owner(text, values)
    directory = mkdtempSync(join(tmpdir(), 'ledger-'))
  })
  afterAll(async () => {
    await service?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  /** An account with 600 entries of six hours, and three checkpoints. */
  async function makeLog() {
    const caller = await service.makeCaller()
    const ids: string[] = []
    const start = Date.now() - 6 * HOUR_MS
    for (const part of [0, 1, 2]) {
      const made = decisions(200).map((decision, index) => ({
        ...decision,
        at: new Date(start + (part * 200 + index) * 36_000),
      }))
      ids.push(...(await service.decide(caller, made)))
    }
    return { caller, ids }
  }

  async function checkOwn(caller: { key: string }): Promise<string[]> {
    const codes: string[] = []
    for (let from: number | null = 0; from !== null; ) {
      const sent = { method: 'POST', json: { from, limit: 300 } }
      const { status, json } = await service.ask(caller, '/verify-chain', sent)
      expect(status).toBe(200)
      codes.push(...json.problems.map(({ code }) => code))
      expect(json.valid).toBe(json.problems.length === 0)
      from = json.next
    }
    return [...new Set(codes)]
  }
  const seenIn = (report: Awaited<ReturnType<LedgerService['judge']>>) => [
    ...new Set(report.findings.filter(({ outcome }) => outcome === 'failed').map(({ check }) => check)),
  ]

  it('does not exist in a log that is left alone, also after retention', async () => {
    const { caller, ids } = await makeLog()
    expect(await checkOwn(caller)).toEqual([])
    expect(await service.judge(await service.exported(caller.key))).toMatchObject({ findings: [], size: 600, gone: 0 })
    // As retention does: from the oldest on.
    await run(`DELETE FROM decisions WHERE id <= $1 AND ${OF(caller)}`, [ids[250]])
    service.clock.now = new Date(Date.now() + 8 * 24 * HOUR_MS)
    expect(await checkOwn(caller)).toEqual([])
    service.clock.now = undefined
    const report = await service.judge(await service.exported(caller.key))
    expect(report).toMatchObject({ findings: [], size: 600, gone: 251, entries: 349 })
  })

  it.each(TAMPERS)('is found: $title', async ({ change, found, seen }) => {
    const { caller, ids } = await makeLog()
    await change({ scope: caller, ids, run })
    expect((await checkOwn(caller)).toSorted()).toEqual(found.toSorted())
    const report = await service.judge(await service.exported(caller.key))
    expect(seenIn(report).toSorted()).toEqual(seen.toSorted())
    // It says where.
    const [first] = report.findings
    if (seen.includes('entry') || seen.includes('leaf')) expect(first?.place).toContain(`position 300, ${ids[300]}`)
  })

  it('is found in a checkpoint with another root, and in one with the signature of another log', async () => {
    const { caller } = await makeLog()
    const { signingKeys } = service.services.platform
    const root = leafHash(Buffer.from('another log'))
    const at = new Date()
    const claims = { account_id: caller.accountId, env: 'sandbox', size: 600, root: root.toString('base64url') }
    const jws = await signingKeys.signRecord('sandbox', CHECKPOINT_TYP, { ...claims, at: at.toISOString() })
    await run(`UPDATE ledger_checkpoints SET root_sha256 = $1, at = $2, jws = $3 WHERE ${OF(caller)} AND size = 600`, [
      root,
      at,
      jws,
    ])
    expect(await checkOwn(caller)).toEqual(['checkpoint_forked'])
    expect(seenIn(await service.judge(await service.exported(caller.key)))).toEqual(['checkpoint'])
    // Nor does the service continue such a log.
    await service.record(caller, decisions(1))
    await service.append()
    expect(await service.sign()).toBe(0)

    // With the signature of another account's checkpoint.
    const other = await makeLog()
    await run(
      `UPDATE ledger_checkpoints SET jws = (SELECT jws FROM ledger_checkpoints WHERE ${OF(caller)} AND size = 400)
       WHERE ${OF(other.caller)} AND size = 400`,
    )
    expect(await checkOwn(other.caller)).toEqual(['checkpoint_unsigned'])
    expect(seenIn(await service.judge(await service.exported(other.caller.key)))).toEqual(['checkpoint'])
  })

  it('is found in a log that was rewritten as a whole, by a checkpoint that was kept elsewhere', async () => {
    const { caller, ids } = await makeLog()
    const { json } = await service.ask(caller, '/checkpoints')
    const held = json.data.map(({ size, jws }) => ({ name: `kept ${size}`, jws }))
    const before = await service.judge(await service.exported(caller.key), held)
    expect(before.findings.map(({ check, outcome }) => `${check} ${outcome}`)).toEqual([
      'kept ok',
      'kept ok',
      'kept ok',
    ])

    await run(
      `UPDATE decisions SET entry = ${EDITED}, entry_sha256 = sha256(convert_to(${EDITED}, 'UTF8')) WHERE id = $1`,
      [ids[300]],
    )
    await run(
      `DELETE FROM decisions WHERE id IN (SELECT decision_id FROM ledger_leaves WHERE ${OF(caller)} AND position >= 590)`,
    )
    for (const table of ['ledger_leaves', 'ledger_nodes', 'ledger_heads', 'ledger_checkpoints']) {
      await run(`DELETE FROM ${table} WHERE ${OF(caller)}`)
    }
    await run(
      `INSERT INTO ledger_pending (account_id, environment, decision_id, entry_sha256)
       SELECT account_id, environment, id, entry_sha256 FROM decisions WHERE ${OF(caller)}`,
    )
    await service.append()
    await service.sign()
    // Nothing within the log shows it.
    expect(await checkOwn(caller)).toEqual([])
    const lines = await service.exported(caller.key)
    expect((await service.judge(lines)).findings).toEqual([])
    const report = await service.judge(lines, held)
    expect(report.findings.filter(({ outcome }) => outcome === 'failed').map(({ place }) => place)).toEqual([
      'kept 400',
      'kept 600',
    ])
  })

  it('is found by npm run ledger, which says what and where', async () => {
    const { caller, ids } = await makeLog()
    const keys = join(directory, 'jwks.json')
    writeFileSync(keys, JSON.stringify(await service.services.platform.signingKeys.jwks()))
    const file = join(directory, 'ledger.ndjson')
    const lines = await service.exported(caller.key)
    writeFileSync(file, `${lines.join('\n')}\n`)
    const kept = join(directory, 'kept.json')
    const { json } = await service.ask(caller, '/checkpoints')
    writeFileSync(kept, JSON.stringify(json.data[1]))

    const whole = await runLedger('verify', file, '--keys', keys, '--checkpoint', kept, '--json')
    expect({ code: whole.code, report: JSON.parse(whole.stdout) }).toMatchObject({
      code: 0,
      report: { holds: true, size: 600, entries: 600, checkpoints: 3, account_id: caller.accountId },
    })
    const unproven = await runLedger('verify', file)
    expect(unproven).toMatchObject({ code: 1, stdout: expect.stringMatching(/UNPROVEN.*signature/) })

    writeFileSync(file, `${lines.toSpliced(301, 1, '{"type":"entry"').join('\n')}\n`)
    const broken = await runLedger('verify', file, '--keys', keys)
    expect(broken).toMatchObject({ code: 1, stdout: expect.stringMatching(/FAILED.*ledger\.ndjson:302/) })
    const edited = lines.map((line) =>
      line.includes(ids[7] ?? '-') ? line.replace('"valid":true', '"valid":false') : line,
    )
    writeFileSync(file, `${edited.join('\n')}\n`)
    const changed = await runLedger('verify', file, '--keys', keys)
    expect(changed.stdout).toContain(`position 7, ${ids[7]}: the entry was changed`)
    writeFileSync(file, `${lines.slice(0, 100).join('\n')}\n`)
    const truncated = await runLedger('verify', file, '--keys', keys)
    expect(truncated).toMatchObject({ code: 1, stdout: expect.stringMatching(/FAILED.*complete/) })
    expect(await runLedger('verify', 'none.ndjson')).toMatchObject({ code: 2 })
  })
})

function runLedger(...args: string[]): Promise<{ code: number; stdout: string }> {
  const root = resolve(import.meta.dirname, '../../..')
  return new Promise((done) => {
    execFile(process.execPath, ['commands/ledger.ts', ...args], { cwd: root }, (error, stdout) => {
      done({ code: error === null ? 0 : Number(error.code), stdout })
    })
  })
}
