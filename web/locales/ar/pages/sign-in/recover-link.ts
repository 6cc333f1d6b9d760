import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { recoverLinkMessages as english } from '../../../en/pages/sign-in/recover-link.ts'

/** Holds the messages for a mailed recovery link. In Arabic. */
export const recoverLinkMessages: typeof english = {
  redeem: {
    title: 'استرداد حسابك',
    lead: 'أنشئ مفتاح مرور على هذا الجهاز. إلى أن يصبح صالحًا، يمكن إيقاف الاسترداد من أجهزتك وعناوينك الأخرى.',
    create: 'إنشاء مفتاح مرور',
    done: (handle) => `أُنشئ مفتاح مرور لـ ${isolate(handle)}`,
    validFrom: (moment) => `يمكنك تسجيل الدخول به: ${moment}.`,
    validNow: 'يمكنك تسجيل الدخول به الآن.',
    keysStayClosed:
      'لا يفتح هذا المفتاح البيانات المشفّرة ولا مفاتيح التوقيع. لذلك تحتاج إلى رمز الاسترداد أو مفتاح مرور آخر.',
    signIn: 'تسجيل الدخول',
  },
  stop: {
    title: 'هل توقف الاسترداد؟',
    lead: 'إذا لم تطلب استرداد حسابك، فأوقفه. لن يعمل له أي رابط استرداد لمدة سبعة أيام.',
    stop: 'إيقاف الاسترداد',
    done: 'أُوقف الاسترداد',
    doneWhat: 'ما زالت مفاتيح المرور لديك صالحة. إذا لم تطلب الرابط، فأبلغ مشغّل الخدمة.',
  },
  incomplete: 'هذا الرابط غير مكتمل',
  incompleteWhat: 'افتح الرابط كاملًا من رسالة البريد الإلكتروني.',
  problems: {
    used: 'انتهت صلاحية هذا الرابط أو استُخدم. اطلب رابطًا آخر من مشغّل الخدمة.',
    locked: 'أُوقف استرداد لهذا الحساب. لن يعمل له أي رابط لبضعة أيام.',
    ended: 'انتهى هذا الاسترداد بالفعل.',
  },
}
