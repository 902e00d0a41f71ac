import { runProcess } from '#src/process.ts'
import { startWeb } from '#src/processes/web.ts'

await runProcess('web', startWeb, { processes: ['web'] })
