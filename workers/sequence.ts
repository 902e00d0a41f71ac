import { runBackground } from '#src/processes/background.ts'

await runBackground('sequence')
