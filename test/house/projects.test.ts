import { describe, expect, it } from 'vitest'
import { isLong, orderFiles, TIMED_FILES } from '../support/order.ts'
import { createProjectOf, findTests, PROJECTS, type ProjectName, readRepository } from '../support/projects.ts'

const projectOf = createProjectOf(readRepository())
const DATABASE = "import { createTestDatabase } from '../support/database.ts'\n"

/** The project of `test/a/one.test.ts` in a tree of these files. */
function projectIn(tree: Record<string, string>): ProjectName {
  return createProjectOf({ read: (path) => tree[path] })('test/a/one.test.ts')
}

describe('the project of a test file', () => {
  it.each([
    ['test/platform/ids.test.ts', 'pure'],
    ['test/attest/claims/attest.test.ts', 'rows'],
    ['test/platform/db/tenancy.test.ts', 'rows'],
    ['test/capture-kit/photo.test.ts', 'alone'],
    ['test/workers/end-to-end.test.ts', 'process'],
    ['test/commands/usage.test.ts', 'process'],
    ['test/docs/browser.test.ts', 'process'],
  ])('%s is %s', (file, project) => {
    expect(projectOf(file)).toBe(project)
  })

  it('is pure as long as it reaches neither a database nor a process', () => {
    expect(projectIn({ 'test/a/one.test.ts': "import { b } from './b.ts'\n", 'test/a/b.ts': '' })).toBe('pure')
    expect(projectIn({ 'test/a/one.test.ts': "import type { TestDatabase } from '../support/database.ts'\n" })).toBe(
      'pure',
    )
  })

  it('is rows when it reaches the database helper, also through others', () => {
    expect(projectIn({ 'test/a/one.test.ts': DATABASE })).toBe('rows')
    expect(projectIn({ 'test/a/one.test.ts': "import { b } from './b.ts'\n", 'test/a/b.ts': DATABASE })).toBe('rows')
  })

  it('is alone when it makes a database of its own, or changes or measures the process that runs it', () => {
    for (const line of [
      "inject('postgresUrl')",
      "vi.spyOn(process, 'kill')",
      'process.env.CI = ""',
      'process.cpuUsage()',
    ]) {
      expect([line, projectIn({ 'test/a/one.test.ts': `${line}\n` })]).toEqual([line, 'alone'])
    }
  })

  it('is alone when it draws photos, and not because the phone of the tests has drawn its own', () => {
    const drawing = "import { renderPhoto } from '../../capture-kit/photo.ts'\n"
    expect(projectIn({ 'test/a/one.test.ts': drawing })).toBe('alone')
    const phone = 'test/attest/claims/phone.ts'
    const shooting = `${DATABASE}import { shoot } from '../attest/claims/phone.ts'\n`
    expect(projectIn({ 'test/a/one.test.ts': shooting, [phone]: drawing.replace('../..', '../../..') })).toBe('rows')
  })

  it('is process when its own code starts processes, and not because the service can', () => {
    const spawning = "import { spawn } from 'node:child_process'\n"
    expect(projectIn({ 'test/a/one.test.ts': spawning })).toBe('process')
    const through = (path: string) =>
      projectIn({ 'test/a/one.test.ts': `${DATABASE}import { b } from '../../${path}'\n`, [path]: spawning })
    expect([through('commands/b.ts'), through('src/b.ts')]).toEqual(['process', 'rows'])
  })
})

describe('the order of a run', () => {
  const files = findTests().map((path) => ({ path, project: projectOf(path) }))

  it('contains every file once, one project after the other behind the long files', () => {
    const ordered = orderFiles(files)
    expect(ordered.map(({ path }) => path).toSorted()).toEqual(findTests())
    const behind = ordered.slice(ordered.filter(isLong).length)
    expect(behind.some(isLong)).toBe(false)
    const changes = behind.filter(({ project }, index) => project !== behind[index - 1]?.project)
    expect(changes.map(({ project }) => project)).toEqual([...PROJECTS])
  })

  it('starts the longest files first, of whatever project, and of each project its longest', () => {
    const first = orderFiles(files).slice(0, 20)
    expect(first[0]).toEqual({ path: 'test/faults/kills.test.ts', project: 'process' })
    expect(first.map(({ path }) => path)).toContain('test/trace/shares/prompt-attack.test.ts')
    const paths = ['test/platform/ids.test.ts', 'test/platform/http/body.test.ts']
    const few = orderFiles(paths.map((path) => ({ path, project: 'pure' as const })))
    expect(few.map(({ path }) => path)).toEqual(paths.toReversed())
  })

  it('names only files that exist among the long ones', () => {
    expect(TIMED_FILES.filter((path) => !findTests().includes(path))).toEqual([])
  })
})
