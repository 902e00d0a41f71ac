// The tabs of guides in TypeScript and Python. The blocks of one language are the steps of one program: a name of an earlier
// block exists in the later ones. One process runs the programs of all guides, one after the other. Each line that prints ends
// with a comment that says what, and the test compares it.

import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Block, blocksOf, fileOf, isPrinted } from './guide.ts'
import { environment, SOURCES } from './python.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const COMPILER = join(ROOT, 'node_modules/.bin/tsc')
const run = promisify(execFile)
/** Begins the output of a program, of a step or of what the program threw. */
const MARK = '\u001e'
// The longest guide compares two models.
const TIME_OUT_MS = 180_000

export type Language = 'ts' | 'python'

interface Program {
  title: string
  steps: readonly Block[]
  path: string
}

export interface Programs {
  folder: string
  /** The folder of a guide, in which its program runs. */
  folderOf(title: string): string
  /**
   * @param places What stands in the guide, and what takes its place.
   * @param options Without `hasFiles` the files of the guide are left out.
   */
  add(title: string, files: readonly string[], places: Record<string, string>, options?: { hasFiles?: boolean }): void
  /** Runs all programs. What went wrong, by the title of the guide; empty where everything was printed. */
  run(): Promise<Map<string, string>>
  /** What the type checker says of all programs and files of the guides; empty when they are right. */
  types(): Promise<string>
  close(): void
}

/** @param python The interpreter with the packages that the library needs. */
export function createPrograms(language: Language, python = ''): Programs {
  const folder = mkdtempSync(join(tmpdir(), `countersign-guides-${language}-`))
  const programs: Program[] = []
  const files: string[] = []
  const folderOf = (title: string) => join(folder, title.replaceAll(/\W+/g, '-'))
  if (language === 'ts') installClient(folder)

  return {
    folder,
    folderOf,
    add(title, guides, places, { hasFiles = true } = {}) {
      const blocks = guides.flatMap((file) => blocksOf(file, readFileSync(join(ROOT, file), 'utf8')))
      const placed = blocks
        .filter((block) => block.language === language)
        .map((block) => ({ ...block, text: placedIn(block.text, places) }))
      mkdirSync(folderOf(title), { recursive: true })
      for (const block of placed) {
        const name = fileOf(block)
        if (name === undefined || !hasFiles) continue
        files.push(join(folderOf(title), name))
        writeFileSync(join(folderOf(title), name), block.text)
      }
      const steps = placed.filter((block) => fileOf(block) === undefined)
      if (steps.length === 0) return
      // Modules of Python have names without hyphens, and no two have the same.
      const name = `guide_${title.replaceAll(/\W+/g, '_')}.${language === 'ts' ? 'mts' : 'py'}`
      const program = { title, steps, path: join(folderOf(title), name) }
      writeFileSync(program.path, steps.map((step, index) => marked(step, index, language)).join('\n'))
      programs.push(program)
    },
    async run() {
      const runner = join(folder, language === 'ts' ? 'run.mjs' : 'run.py')
      const paths = programs.map(({ path }) => path)
      writeFileSync(runner, language === 'ts' ? TYPESCRIPT_RUNNER : PYTHON_RUNNER)
      const command = language === 'ts' ? process.execPath : python
      const options = { env: environment(), timeout: TIME_OUT_MS, maxBuffer: 2 ** 26 }
      const { stdout, stderr } = await run(command, [runner, ...paths], options).catch((error) => error)
      const printed = String(stdout).split(`${MARK}program\n`).slice(1)
      return new Map(
        programs.map((program, index) => {
          const problems = problemsOf(program, printed[index] ?? `${MARK}threw\nnothing ran: ${stderr}`, language)
          return [program.title, problems.join('\n')]
        }),
      )
    },
    async types() {
      const all = [...programs.map(({ path }) => path), ...files]
      const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--allowImportingTsExtensions', '--skipLibCheck']
      const types = ['--target', 'esnext', '--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]
      const cache = join(dirname(dirname(python)), 'mypy-guides')
      const [command, args] =
        language === 'ts'
          ? [COMPILER, [...flags, ...types, ...all]]
          : [python, ['-m', 'mypy', '--strict', '--no-error-summary', '--cache-dir', cache, ...all]]
      const env = environment({ MYPYPATH: SOURCES })
      const { stdout } = await run(command, args, { cwd: folder, env }).catch((error: { stdout: string }) => error)
      return stdout
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Builds the library for TypeScript where the programs of `folder` and below find it. */
export function installClient(folder: string): void {
  const client = join(folder, 'node_modules/@countersign/client')
  const isSource = (path: string) => !/\/(?:dist|node_modules)$/.test(path)
  cpSync(join(ROOT, 'clients/typescript'), client, { recursive: true, filter: isSource })
  execFileSync(COMPILER, ['-p', client])
}

function placedIn(text: string, places: Record<string, string>): string {
  return Object.entries(places).reduce((made, [written, real]) => made.replaceAll(written, real), text)
}

function marked({ text }: Block, index: number, language: Language): string {
  const mark = JSON.stringify(`${MARK}${index}`)
  return language === 'ts' ? `console.log(${mark})\n${text}` : `print(${mark})\n${text}`
}

// A step that prints says what, so that a reader knows without running it.
function problemsOf({ steps }: Program, printed: string, language: Language): string[] {
  const [output = '', threw] = printed.split(`${MARK}threw\n`)
  const outputs = output.split(new RegExp(`${MARK}\\d+\\n`)).slice(1)
  const problems = steps.flatMap(({ text, place }, index) => {
    const shown = outputs[index]
    if (shown === undefined) return [`${place} was not reached`]
    const prints = text.split('\n').filter((line) => /\bconsole\.log\(|\bprint\(/.test(line))
    const expected = prints.map((line) => (language === 'ts' ? /\/\/ (.*)$/ : /(?: {2}|^)# (.*)$/).exec(line)?.[1])
    if (expected.includes(undefined)) return [`${place} has a line that does not say what it prints`]
    return expected.some((line) => !isPrinted(shown, line ?? '')) ? [`${place} printed instead:\n${shown}`] : []
  })
  return threw === undefined ? problems : [...problems, threw]
}

const TYPESCRIPT_RUNNER = `
import { dirname } from 'node:path'
for (const path of process.argv.slice(2)) {
  console.log(${JSON.stringify(`${MARK}program`)})
  process.chdir(dirname(path))
  try {
    await import(path)
  } catch (error) {
    console.log(${JSON.stringify(`${MARK}threw`)})
    console.log(error)
  }
}
process.exit()
`

const PYTHON_RUNNER = `
import os, runpy, sys, traceback
for path in sys.argv[1:]:
    print(${JSON.stringify(`${MARK}program`)})
    os.chdir(os.path.dirname(path))
    sys.path.insert(0, os.path.dirname(path))
    try:
        runpy.run_path(path)
    except BaseException:
        print(${JSON.stringify(`${MARK}threw`)})
        traceback.print_exc(file=sys.stdout)
    sys.path.pop(0)
`
