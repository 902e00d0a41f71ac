import { runWorker } from '#src/process.ts'

await runWorker('diff')
