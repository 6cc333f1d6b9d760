import { after, before } from 'node:test'
import { furtherModules } from './further-modules.ts'
import { openGround, type Ground } from './ground/ground.ts'
import { runPlan } from './plan.ts'

let ground: Ground
before(async () => {
  ground = await openGround('query')
})
after(() => ground.close())

runPlan('Further modules', furtherModules, () => ground)
