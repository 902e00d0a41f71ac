// Run by log.test.ts as a process of its own: logs when it is told that its output is no longer read, and exits.

import { createLog } from '#src/platform/log.ts'

const log = createLog({ process: 'test', level: 'info' })
process.on('message', () => {
  log.info('nobody reads this')
  log.fatal('nor this')
  process.exit(3)
})
process.send?.('ready')
