// Runs a guide of docs/ as a newcomer does it: files are written, commands are typed in order in one shell, and the output
// that the guide shows is compared with theirs.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { until } from './until.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
// With a socket as its standard input, bash takes itself for a remote shell and reads ~/.bashrc.
const BASH = ['--norc', '-c']

export interface Block {
  language: string
  text: string
  /** File and line. */
  place: string
}

export interface Guide {
  folder: string
  blocks: readonly Block[]
  /** From the first block to the last. Blocks of TypeScript and Python without a file name are for `guide-programs.ts`. */
  run(): Promise<void>
  /** What the type checker says of its TypeScript; empty when it is right. */
  types(): Promise<string>
  /** What a program of the guide answers to `input`, both as JSON. */
  pipe(command: string, args: string[], input: unknown): unknown
  close(): void
}

/** Which of these programs the machine lacks. */
export function missingTools(tools: readonly string[]): string[] {
  return tools.filter((tool) => spawnSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' }).status !== 0)
}

/**
 * @param files The guide, or several of which each continues the one before.
 * @param places What stands in the guide, and what takes its place: its address, its key, its port.
 */
export function openGuide(files: string | readonly string[], places: Record<string, string>): Guide {
  const blocks = [files].flat().flatMap((file) => blocksOf(file, readFileSync(join(ROOT, file), 'utf8')))
  const folder = mkdtempSync(join(tmpdir(), 'countersign-guide-'))
  let receiver: { child: ChildProcess; printed: () => string } | undefined

  function placed(text: string): string {
    return Object.entries(places).reduce((made, [written, real]) => made.replaceAll(written, real), text)
  }

  // One shell per block; variables and functions of a block exist in the next, as in a terminal.
  async function type(commands: string, place: string): Promise<string> {
    const script = [
      'set -aeo pipefail',
      'if [ -f .shell ]; then source ./.shell; fi',
      commands,
      `{ export -p | grep -v -E ' (HOME|OLDPWD|PATH|PWD|SHLVL|_)='; declare -f; } > .shell`,
    ].join('\n')
    try {
      const { stdout } = await run('bash', [...BASH, script], { cwd: folder, env: environment() })
      return stdout
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string }
      throw new Error(`${place} failed:\n${stderr}\n${stdout}`)
    }
  }

  async function restart(command: string): Promise<void> {
    const before = receiver?.child
    if (before !== undefined) {
      before.kill('SIGINT')
      await until(() => before.exitCode !== null || before.signalCode !== null)
    }
    // The variables of the terminal, as a second one that the reader prepared has them.
    const script = `set -a; if [ -f .shell ]; then source ./.shell; fi; exec ${command}`
    const child = spawn('bash', [...BASH, script], { cwd: folder, env: environment() })
    let printed = ''
    const listen = (chunk: Buffer) => {
      printed += String(chunk)
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    receiver = { child, printed: () => printed }
    await until(() => printed.includes('listening'), { what: `the receiver listens (it printed ${printed})` })
  }

  return {
    folder,
    blocks,
    async run() {
      let printed = ''
      for (const { language, text, place } of blocks) {
        const content = placed(text)
        const name = fileOf({ language, text })
        if (name !== undefined) writeFileSync(join(folder, name), content)
        else if (language === 'sh') printed = await type(content, place)
        else if (language === 'sh receiver') await restart(content)
        else if (language === 'text') {
          if (!isPrinted(printed, content)) expect.fail(`${place}: this was printed instead:\n${printed}`)
        } else if (language === 'text receiver') {
          await until(() => isPrinted(receiver?.printed() ?? '', content)).catch(() => {
            expect.fail(`${place}: the receiver printed\n${receiver?.printed()}`)
          })
        }
      }
    },
    async types() {
      const files = blocks.flatMap((block) => fileOf(block) ?? []).filter((name) => name.endsWith('.mts'))
      if (files.length === 0) return ''
      const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--allowImportingTsExtensions', '--skipLibCheck']
      const types = ['--target', 'esnext', '--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]
      const { stdout } = await run(join(ROOT, 'node_modules/.bin/tsc'), [...flags, ...types, ...files], {
        cwd: folder,
        env: environment(),
      }).catch((error: { stdout: string }) => error)
      return stdout
    },
    pipe(command, args, input) {
      const { stdout, stderr } = spawnSync(command, args, {
        cwd: folder,
        env: environment(),
        input: JSON.stringify(input),
        encoding: 'utf8',
      })
      expect(stderr).toBe('')
      return JSON.parse(stdout)
    },
    close() {
      receiver?.child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function environment(): NodeJS.ProcessEnv {
  const { PATH = '', HOME } = process.env
  return { HOME, PATH: [join(ROOT, 'node_modules/.bin'), PATH].join(delimiter), PYTHONDONTWRITEBYTECODE: '1' }
}

export function blocksOf(file: string, text: string): Block[] {
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ 1: language = '', 2: content = '', index }) => ({
    language,
    text: content,
    place: `${file}:${text.slice(0, index).split('\n').length}`,
  }))
}

/** The name of the file that a block of TypeScript or Python is, which its first line says. */
export function fileOf({ language, text }: Pick<Block, 'language' | 'text'>): string | undefined {
  if (language !== 'ts' && language !== 'python') return undefined
  return /^(?:\/\/|#) ([a-z]+\.(?:mts|py))\n/.exec(text)?.[1]
}

/** Whether every expected line occurs; `...` stands for anything. */
export function isPrinted(printed: string, expected: string): boolean {
  return expected
    .trimEnd()
    .split('\n')
    .every((line) => {
      const parts = line.split('...').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      return new RegExp(`^${parts.join('.*')}$`, 'm').test(printed)
    })
}
