// `npm run evidence -- verify`: checks an evidence packet without the service.

import { styleText } from 'node:util'
import type { CheckFinding } from '#client/verify/packet-findings.ts'
import { type CheckReport, checkFile } from './evidence/check.ts'
import { readKeysFile, readPacketFile } from './evidence/files.ts'
import { fetchKeys } from './evidence/keys.ts'
import { createMediaFinder } from './evidence/media.ts'
import { HELP, type Options, readOptions } from './evidence/options.ts'
import { partsOf, summaryOf } from './evidence/report.ts'
import { exitCodeOf } from './sentence.ts'

const EXIT = { holds: 0, fails: 1 }

const WORDS: Record<CheckFinding['outcome'], string> = {
  ok: styleText('green', 'ok'.padEnd(9)),
  failed: styleText(['red', 'bold'], 'FAILED'.padEnd(9)),
  unproven: styleText('yellow', 'UNPROVEN'.padEnd(9)),
  skipped: styleText('dim', 'skipped'.padEnd(9)),
}

// A closed pipe (`| head`) is no error.
process.stdout.on('error', () => {})
process.exitCode = await exitCodeOf('evidence', async () => {
  const options = readOptions(process.argv.slice(2))
  if (options !== undefined) return verify(options)
  process.stdout.write(HELP)
  return EXIT.holds
})

async function verify(options: Options): Promise<number> {
  const file = await readPacketFile(options.file)
  const keys =
    options.keys !== undefined
      ? await readKeysFile(options.keys)
      : options.url === undefined
        ? undefined
        : await fetchKeys(options.url)
  const media = options.media === undefined ? {} : createMediaFinder(options.media)
  const report = await checkFile(file, { keys, ...media })
  const hasFailed = report.findings.some(({ outcome }) => outcome === 'failed' || outcome === 'unproven')
  if (options.isJson) writeJson(options.file, report, hasFailed)
  else writeTable(report, options.isLong)
  return hasFailed ? EXIT.fails : EXIT.holds
}

function writeJson(file: string, { findings, packet }: CheckReport, hasFailed: boolean): void {
  const about = packet?.about
  const body = { object: 'evidence_check', file, packet_id: about?.packet_id ?? null, holds: !hasFailed, findings }
  process.stdout.write(`${JSON.stringify(body)}\n`)
}

function writeTable(report: CheckReport, isLong: boolean): void {
  const lines = summaryOf(report)
  for (const part of partsOf(report.findings)) {
    lines.push(`${WORDS[part.outcome]} ${part.name.padEnd(42)} ${part.summary}`)
    for (const { outcome, check, detail } of isLong ? part.findings : part.remarks) {
      lines.push(`${' '.repeat(10)}${WORDS[outcome]} ${check}${detail === '' ? '' : `: ${detail}`}`)
    }
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}
