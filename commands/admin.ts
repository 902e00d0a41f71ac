// `npm run admin -- ...`: an operator's commands on a deployment. A command that stops work or can't be undone asks for
// confirmation first (or takes --yes), and every command that changes something writes a line to the admin log.

import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { type Command, readCommand, USAGE } from './admin/commands.ts'
import { operatorName } from './admin/record.ts'
import { renderResult } from './admin/render.ts'
import { isUsageError, sentenceOf } from './sentence.ts'
import { readAddress } from './state.ts'

// A closed pipe (`| head`) is no error.
process.stdout.on('error', () => process.exit(0))
process.exit(await main())

async function main(): Promise<number> {
  try {
    const command = readCommand(process.argv.slice(2))
    if (command === undefined) process.stdout.write(USAGE)
    else await perform(command)
    return 0
  } catch (error) {
    const isUsage = isUsageError(error)
    // The domain's name of a field is replaced by the option that set it.
    const sentence = sentenceOf(error).replace(/^\/([a-z_]+?)(?:_at)?(?:\/\d+)?:? /, (_, field: string) => {
      return `--${field.replaceAll('_', '-')} `
    })
    process.stderr.write(`${sentence}\n${isUsage ? 'Try: npm run admin -- --help\n' : ''}`)
    return isUsage ? 2 : 1
  }
}

async function perform({ act, isAgreed, isJson }: Command): Promise<void> {
  // Loaded only now: a wrong word is reported at once.
  const { prepare } = await import('./deployment.ts')
  const onWarning = (line: string) => void process.stderr.write(`  ! ${line}\n`)
  const { services, directory, config, release } = await prepare({ onWarning })
  const address = config.BASE_URL?.replace(/\/+$/, '') ?? readAddress(directory)
  const write = logTo(directory)
  let logged: string | undefined
  const log: typeof write = (name, fields) => {
    write(name, fields)
    logged = name
  }
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  try {
    const result = await act({ services, address, confirm: isAgreed ? async () => {} : ask, say, log })
    process.stdout.write(isJson ? `${JSON.stringify(result)}\n` : renderResult(result))
  } catch (error) {
    // Its line stands there already, written before the commit.
    if (logged !== undefined) write(logged, { failed: sentenceOf(error) })
    throw error
  } finally {
    await release()
  }
}

async function ask(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new Error(`${question} Nothing was changed: agree with --yes.`)
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-C and Ctrl-D count as answers.
  const left = new Promise<string>((done) => prompt.once('close', () => done('\n')))
  const answer = await Promise.race([prompt.question(`${question} [y/N] `), left])
  prompt.close()
  if (answer === '\n') process.stderr.write(answer)
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was changed.')
}

function logTo(directory: string) {
  return (act: string, fields: Record<string, unknown>) => {
    const logs = join(directory, 'logs')
    mkdirSync(logs, { recursive: true })
    const line = { time: new Date().toISOString(), act, user: operatorName(), ...fields }
    appendFileSync(join(logs, 'admin.log'), `${JSON.stringify(line)}\n`, { mode: 0o600 })
  }
}
