import { after, before } from 'node:test'
import { basicModules } from './basic-modules.ts'
import { openGround, type Ground } from './ground/ground.ts'
import { runPlan } from './plan.ts'

let ground: Ground
before(async () => {
  ground = await openGround('form_post')
})
after(() => ground.close())

runPlan('Form Post OP', basicModules, () => ground)
