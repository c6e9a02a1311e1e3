//! Owns the looks: colours for light and dark, fonts, icons. Status is never colour alone: every state has its icon.
//!
//! What stands inside an icon is styled by one class alone (`sp-…`): a drawn icon is a copy outside the picture's tree,
//! where rules that name an ancestor do not reach.

/// The style sheet. Everything stands under `.spine`, so that a picture inside a page changes nothing around it.
pub(super) const CSS: &str = r#"
.spine text{font-family:-apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Liberation Sans","Noto Sans","PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;fill:#1f2328}
.spine .t-head{font-size:17px;font-weight:600}
.spine .t-title{font-size:14px;font-weight:600}
.spine .t-name{font-size:12px;font-weight:600}
.spine .t-body{font-size:12px}
.spine .t-small{font-size:11px;fill:#59636e}
.spine .t-code{font-size:11px;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono","Noto Sans Mono CJK SC",monospace;fill:#59636e}
.spine .muted{fill:#59636e}
.spine .page{fill:#fff}
.spine .band{fill:#f6f8fa;stroke:#d1d9e0}
.spine .band-bad{stroke:#f1a9a7}
.spine .band-wait{stroke:#e0bd6c}
.spine .rule{stroke:#d1d9e0;fill:none}
.spine .card{fill:#fff;stroke:#c8d1da}
.spine .model .card{fill:#fbfcfe}
.spine .lane{fill:#fff;fill-opacity:.55;stroke:#d1d9e0;stroke-dasharray:2 3}
.spine .line{fill:none;stroke:#8c959f;stroke-width:1.25}
.spine .soft{fill:none;stroke:#b6bfc9;stroke-width:1.25}
.spine .dash{stroke-dasharray:4 3}
.spine .head{fill:#8c959f}
.spine .s-ok{fill:#1a7f37}.spine .s-run{fill:#0969da}.spine .s-wait{fill:#9a6700}.spine .s-bad{fill:#cf222e}.spine .s-off{fill:#6e7781}
.spine .e-wait .card{stroke:#bf8700;fill:#fff8dc}
.spine .e-bad .card{stroke:#cf222e;fill:#fff5f4}
.spine .e-run .card{stroke:#54a0ef}
.spine .e-off .card{fill:url(#sp-hatch);stroke:#8c959f;stroke-dasharray:4 3}
.spine .e-skip .card{fill:#f0f2f5}
.spine text.s-bad{fill:#b3202b}.spine text.s-wait{fill:#855a00}
.sp-k{fill:none;stroke:#59636e;stroke-width:1.3;stroke-linecap:round;stroke-linejoin:round}
.spine .hatch{stroke:#dfe4e9;stroke-width:2}
.spine .hatch-bg{fill:#f6f8fa}
.sp-g{fill:none;stroke:#fff;stroke-width:1.7;stroke-linecap:round;stroke-linejoin:round}
.sp-d{fill:#fff}
.spine .a0{fill:#8250df}.spine .a1{fill:#0a7c86}.spine .a2{fill:#bc4c00}.spine .a3{fill:#bf3989}.spine .a4{fill:#4f5bd5}
.spine .l0{stroke:#8250df}.spine .l1{stroke:#0a7c86}.spine .l2{stroke:#bc4c00}.spine .l3{stroke:#bf3989}.spine .l4{stroke:#4f5bd5}
.spine .spawn{fill:none;stroke-width:1.5;stroke-dasharray:5 3}
.spine .handoff{fill:none;stroke-width:2.25}
@media (prefers-color-scheme:dark){
.spine text{fill:#e6edf3}
.spine .t-small,.spine .t-code,.spine .muted{fill:#9aa4af}
.spine .page{fill:#0d1117}
.spine .band{fill:#151b23;stroke:#30363d}
.spine .band-bad{stroke:#8e3b3c}
.spine .band-wait{stroke:#79601f}
.spine .rule{stroke:#30363d}
.spine .card{fill:#1c232c;stroke:#3d444d}
.spine .model .card{fill:#181f28}
.spine .lane{fill:#0d1117;stroke:#30363d}
.spine .line{stroke:#7d8590}
.spine .soft{stroke:#545d68}
.spine .head{fill:#7d8590}
.spine .s-ok{fill:#2f9e44}.spine .s-run{fill:#3b8eea}.spine .s-wait{fill:#c69026}.spine .s-bad{fill:#e5534b}.spine .s-off{fill:#768390}
.spine .e-wait .card{stroke:#c69026;fill:#2b2413}
.spine .e-bad .card{stroke:#e5534b;fill:#2c1a1c}
.spine .e-run .card{stroke:#3b8eea}
.spine .e-off .card{stroke:#768390;fill:url(#sp-hatch)}
.spine .e-skip .card{fill:#161b22}
.spine text.s-bad{fill:#ff8b85}.spine text.s-wait{fill:#e3b341}
.sp-k{stroke:#9aa4af}
.spine .hatch{stroke:#2a313a}
.spine .hatch-bg{fill:#171d26}
.sp-g{stroke:#0d1117}
.sp-d{fill:#0d1117}
.spine .a0{fill:#a98bf5}.spine .a1{fill:#4ac6d0}.spine .a2{fill:#f0924b}.spine .a3{fill:#e482b8}.spine .a4{fill:#8f9bff}
.spine .l0{stroke:#a98bf5}.spine .l1{stroke:#4ac6d0}.spine .l2{stroke:#f0924b}.spine .l3{stroke:#e482b8}.spine .l4{stroke:#8f9bff}
}
"#;

/// Arrow head, hatching, and the icons: status icons of 14 by 14, kind icons of 14 by 14.
pub(super) const DEFS: &str = r##"
<marker id="sp-arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M.5 .8 7.5 4 .5 7.2z" class="head"/></marker><marker id="sp-arrow0" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M.5 .8 7.5 4 .5 7.2z" class="a0"/></marker><marker id="sp-arrow1" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M.5 .8 7.5 4 .5 7.2z" class="a1"/></marker><marker id="sp-arrow2" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M.5 .8 7.5 4 .5 7.2z" class="a2"/></marker><marker id="sp-arrow3" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M.5 .8 7.5 4 .5 7.2z" class="a3"/></marker><marker id="sp-arrow4" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M.5 .8 7.5 4 .5 7.2z" class="a4"/></marker>
<pattern id="sp-hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" class="hatch-bg"/><path d="M0 0V7" class="hatch"/></pattern>
<g id="sp-succeeded"><circle cx="7" cy="7" r="7"/><path d="M3.8 7.3 6.2 9.6 10.3 4.9" class="sp-g"/></g>
<g id="sp-failed"><circle cx="7" cy="7" r="7"/><path d="M4.6 4.6 9.4 9.4M9.4 4.6 4.6 9.4" class="sp-g"/></g>
<g id="sp-denied"><circle cx="7" cy="7" r="7"/><path d="M3.6 7H10.4" class="sp-g"/></g>
<g id="sp-timed_out"><circle cx="7" cy="7" r="7"/><path d="M7 3.6V7.2L9.4 8.8" class="sp-g"/></g>
<g id="sp-waiting"><circle cx="7" cy="7" r="7"/><path d="M5.2 4.4V9.6M8.8 4.4V9.6" class="sp-g"/></g>
<g id="sp-blocked"><path d="M4.1 0h5.8L14 4.1v5.8L9.9 14H4.1L0 9.9V4.1z"/><path d="M7 3.6V7.6M7 10.2V10.3" class="sp-g"/></g>
<g id="sp-running"><circle cx="7" cy="7" r="7"/><path d="M5.6 4.3 9.8 7 5.6 9.7z" class="sp-d"/></g>
<g id="sp-queued"><circle cx="7" cy="7" r="7"/><circle cx="4" cy="7" r="1" class="sp-d"/><circle cx="7" cy="7" r="1" class="sp-d"/><circle cx="10" cy="7" r="1" class="sp-d"/></g>
<g id="sp-partial"><circle cx="7" cy="7" r="7"/><path d="M7 2.6A4.4 4.4 0 0 1 7 11.4z" class="sp-d"/></g>
<g id="sp-cancelled"><circle cx="7" cy="7" r="7"/><rect x="4.7" y="4.7" width="4.6" height="4.6" class="sp-d"/></g>
<g id="sp-expired"><circle cx="7" cy="7" r="7"/><path d="M4.6 3.8H9.4L7 7 9.4 10.2H4.6L7 7z" class="sp-d"/></g>
<g id="sp-interrupted"><circle cx="7" cy="7" r="7"/><path d="M7.9 2.8 4.6 7.6H7L6.1 11.2 9.4 6.4H7z" class="sp-d"/></g>
<g id="sp-unknown"><circle cx="7" cy="7" r="7"/><path d="M5.2 5.4A1.9 1.9 0 1 1 7.4 7.2Q7 7.4 7 8.1M7 10.3V10.4" class="sp-g"/></g>
<g id="sp-k-model" class="sp-k"><path d="M7 1.2 8.6 5.4 12.8 7 8.6 8.6 7 12.8 5.4 8.6 1.2 7 5.4 5.4z"/></g>
<g id="sp-k-tool" class="sp-k"><rect x="1" y="2" width="12" height="10" rx="2"/><path d="M3.6 5.2 5.6 7 3.6 8.8M7.2 9H10"/></g>
<g id="sp-k-agent" class="sp-k"><circle cx="7" cy="4.2" r="2.7"/><path d="M1.8 12.6C2 9.6 4.2 8.4 7 8.4S12 9.6 12.2 12.6"/></g>
<g id="sp-k-artifact" class="sp-k"><path d="M3 1h5.2L11 3.8V13H3z"/><path d="M8 1.2V4H10.8M5 7.2H9M5 9.8H9"/></g>
<g id="sp-k-evidence" class="sp-k"><path d="M3 1h5.2L11 3.8V13H3z"/><path d="M8 1.2V4H10.8M5 9 6.4 10.4 9 7.4"/></g>
<g id="sp-k-task" class="sp-k"><rect x="1.6" y="1.6" width="10.8" height="10.8" rx="2"/><path d="M4.4 7.2 6.3 9 9.8 5.2"/></g>
<g id="sp-k-action" class="sp-k"><path d="M7 1 13 7 7 13 1 7z"/></g>
<g id="sp-k-fold" class="sp-k"><path d="M1.8 3 5.2 7 1.8 11M12.2 3 8.8 7 12.2 11M7 2V12"/></g>
<g id="sp-k-fork" class="sp-k"><circle cx="3.6" cy="2.6" r="1.6"/><circle cx="3.6" cy="11.4" r="1.6"/><circle cx="10.4" cy="4.4" r="1.6"/><path d="M3.6 4.2V9.8M10.4 6Q10.4 8.4 3.8 8.6"/></g>
<g id="sp-k-back" class="sp-k"><path d="M3 4.6H9A3.4 3.4 0 0 1 9 11.4H5M5.4 2.2 3 4.6 5.4 7"/></g>
<g id="sp-k-gap" class="sp-k"><path d="M1 7H4.4M9.6 7H13M8.4 3 5.6 11"/></g>
<g id="sp-k-turn" class="sp-k"><path d="M2 2.4H12V9.6H7.4L4.4 12.2V9.6H2z"/></g>
"##;

/// The icon, the colour and the frame of a status.
pub(super) struct Look {
    pub(super) icon: &'static str,
    pub(super) colour: &'static str,
    pub(super) frame: &'static str,
}

use crate::projections::graph::Status;

/// How a status looks.
pub(super) const fn look(status: Status) -> Look {
    let (colour, frame) = match status {
        Status::Succeeded => ("s-ok", "e-ok"),
        Status::Partial => ("s-wait", "e-ok"),
        Status::Running => ("s-run", "e-run"),
        Status::Queued => ("s-off", "e-ok"),
        Status::Waiting | Status::Blocked => ("s-wait", "e-wait"),
        Status::Failed | Status::Denied | Status::TimedOut => ("s-bad", "e-bad"),
        Status::Cancelled | Status::Expired => ("s-off", "e-skip"),
        Status::Interrupted | Status::Unknown => ("s-off", "e-off"),
    };
    Look { icon: status.as_str(), colour, frame }
}
