import { guardEgress } from '#kernel/egress.ts'

guardEgress()
