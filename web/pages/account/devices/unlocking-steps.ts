import type { Agreement } from '@countersign/keys/device-approval'
import type { WaitingDevice } from '@countersign/protocol/accounts/device-approvals'
import { limits } from '@countersign/protocol/formats/limits'

/** How it can go wrong. Something between the two devices may alter what they say; then they don't trust each other. */
export type Failure = 'gone' | 'altered' | 'wrong digits'

/** The way on which a device unlocks another. */
export type Step =
  | { at: 'rest' }
  | { at: 'agree'; device: WaitingDevice }
  | { at: 'compare'; device: WaitingDevice; agreement: Agreement; triesLeft: number }
  | { at: 'sent'; device: WaitingDevice; confirmation: string }
  | { at: 'end'; device: WaitingDevice; end: Failure }

export type Event =
  | { type: 'approved'; device: WaitingDevice }
  | { type: 'agreed'; agreement: Agreement }
  | { type: 'wrong digits' }
  | { type: 'sent' }
  | { type: 'ended'; end: Failure }
  | { type: 'left' }

/** The step after an event; one that does not belong to the step, such as a late answer, changes nothing. */
export function nextStep(step: Step, event: Event): Step {
  switch (event.type) {
    case 'approved':
      return step.at === 'rest' ? { at: 'agree', device: event.device } : step
    case 'agreed': {
      if (step.at !== 'agree') return step
      return {
        at: 'compare',
        device: step.device,
        agreement: event.agreement,
        triesLeft: limits.deviceApprovalTriesMax,
      }
    }
    case 'wrong digits': {
      if (step.at !== 'compare') return step
      const triesLeft = step.triesLeft - 1
      return triesLeft > 0 ? { ...step, triesLeft } : { at: 'end', device: step.device, end: 'wrong digits' }
    }
    case 'sent': {
      if (step.at !== 'compare') return step
      return { at: 'sent', device: step.device, confirmation: step.agreement.confirmation }
    }
    case 'ended':
      return step.at === 'agree' || step.at === 'compare' ? { at: 'end', device: step.device, end: event.end } : step
    case 'left':
      return { at: 'rest' }
  }
}
