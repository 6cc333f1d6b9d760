import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { admissionMessages as english } from '../../../en/pages/sign-in/admission.ts'

/** Holds the messages about what permits a registration. In Arabic. */
export const admissionMessages: typeof english = {
  setup: 'ليس لهذه الخدمة مشغّل بعد. بهذا الحساب تصبح مالكها.',
  invited: 'أنت مدعوّ.',
  invitedAs: (email) => `أنت مدعوّ بالعنوان ${isolate(email)}.`,
  further: (name, handle) => `تُضاف إلى حساب ${isolate(name)} (${isolate(handle)}).`,
  chosenLead: 'سيُنشئ جهازك مفتاح مرور، فلا حاجة إلى كلمة مرور.',
  chosen: 'اختار مشغّل الخدمة هذين الاسمين. يمكنك تغييرهما لاحقًا.',
  addIdentity: 'إضافة هوية',
  useTitle: 'من المالك؟',
  use: (name, handle) => `استخدام ${isolate(name)} (${isolate(handle)})`,
  refused: {
    registration_closed: { title: 'التسجيل مغلق', lead: 'إذا كان لديك حساب، فسجّل الدخول.' },
    invitation_required: { title: 'تحتاج إلى دعوة', lead: 'اطلبها من مشغّل هذه الخدمة.' },
    setup_done: { title: 'تم الإعداد من قبل', lead: 'لهذه الخدمة مشغّل. اطلب منه دورًا.' },
    setup_link_expired: {
      title: 'انتهت صلاحية هذا الرابط',
      lead: 'أعد تشغيل الخدمة: كل تشغيل يُنشئ رابطًا جديدًا.',
    },
    invitation_expired: {
      title: 'لم تعد هذه الدعوة صالحة',
      lead: 'انتهت صلاحيتها أو استُخدمت أو أُلغيت. اطلب دعوة جديدة.',
    },
  },
}
