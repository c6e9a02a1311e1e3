//! Owns drawing work and those who do it: tasks, sub-agents, jobs, messages between agents, the queue of inputs.

use std::io::{self, Write as _};

use read_model::projections::queue::Queue;
use read_model::projections::tasks::Tasks;

use super::{took, whole, word};
use crate::output::{DIM, Out, WARN, left, right};
use crate::text::one_line;

/// Tasks, sub-agents, jobs and messages.
pub(crate) fn tasks(out: &mut Out, tasks: &Tasks) -> io::Result<()> {
    let agents = &tasks.subagents;
    if tasks.tasks.is_empty()
        && agents.threads.is_empty()
        && tasks.jobs.is_empty()
        && tasks.messages.is_empty()
    {
        let none = out.paint(DIM, "no task, no sub-agent, no job");
        return writeln!(out, "\n{none}");
    }
    if !tasks.tasks.is_empty() {
        out.heading("Tasks")?;
        let rows = tasks
            .tasks
            .iter()
            .map(|task| {
                let id = task.scope.task_id.as_ref().map(ToString::to_string).unwrap_or_default();
                let about = task.label.as_deref().or(task.objective.as_deref()).unwrap_or_default();
                let more =
                    task.error.as_deref().or(task.summary.as_deref()).or(task.progress.as_deref());
                vec![
                    id,
                    word(&task.status),
                    task.attempt_count.to_string(),
                    one_line(about, 48),
                    one_line(more.unwrap_or_default(), 60),
                ]
            })
            .collect();
        out.table(
            &[left("task"), left("status"), right("attempts"), left("what"), left("")],
            rows,
        )?;
    }
    if !agents.threads.is_empty() {
        out.heading("Sub-agents")?;
        let rows = agents
            .threads
            .iter()
            .map(|agent| {
                let id =
                    agent.scope.subagent_id.as_ref().map(ToString::to_string).unwrap_or_default();
                let parent = match (&agent.unplaced, &agent.parent_subagent_id) {
                    (Some(_), _) => out.paint(WARN, "not known"),
                    (None, Some(parent)) => parent.clone(),
                    (None, None) => String::new(),
                };
                vec![
                    id,
                    agent.name.clone().unwrap_or_default(),
                    word(&agent.status),
                    parent,
                    took(&agent.elapsed).unwrap_or_default(),
                    one_line(&whole(&agent.objective), 60),
                ]
            })
            .collect();
        let columns = [
            left("agent"),
            left("name"),
            left("status"),
            left("of"),
            right("took"),
            left("objective"),
        ];
        out.table(&columns, rows)?;
    }
    jobs_and_messages(out, tasks)
}

fn jobs_and_messages(out: &mut Out, tasks: &Tasks) -> io::Result<()> {
    if !tasks.jobs.is_empty() {
        out.heading("Jobs")?;
        let rows = tasks
            .jobs
            .iter()
            .map(|job| {
                let title = job.title.as_deref().or(job.reason.as_deref()).unwrap_or_default();
                vec![
                    job.job_id.clone(),
                    job.queue.clone().unwrap_or_default(),
                    job.times.to_string(),
                    one_line(title, 60),
                ]
            })
            .collect();
        out.table(&[left("job"), left("queue"), right("times"), left("what")], rows)?;
    }
    if !tasks.messages.is_empty() {
        out.heading("Messages")?;
        let rows = tasks
            .messages
            .iter()
            .map(|message| {
                let (from, to) = (message.from.as_deref(), message.to.as_deref());
                let way = format!("{} → {}", from.unwrap_or("?"), to.unwrap_or("?"));
                vec![message.at.sequence.to_string(), way, one_line(&whole(&message.text), 80)]
            })
            .collect();
        out.table(&[right("at"), left("way"), left("text")], rows)?;
    }
    Ok(())
}

/// The queue of inputs.
pub(crate) fn queue(out: &mut Out, queue: &Queue) -> io::Result<()> {
    writeln!(out)?;
    if queue.items.is_empty() {
        let none = out.paint(DIM, "nothing was ever queued");
        return writeln!(out, "{none}");
    }
    let rows = queue
        .items
        .iter()
        .map(|item| {
            let position = item.position.map(|p| p.to_string()).unwrap_or_default();
            vec![
                item.item_id.clone(),
                word(&item.state),
                item.mode.as_ref().map(word).unwrap_or_default(),
                position,
                one_line(
                    item.preview.as_deref().or(item.reason.as_deref()).unwrap_or_default(),
                    60,
                ),
            ]
        })
        .collect();
    out.table(&[left("input"), left("state"), left("mode"), right("place"), left("what")], rows)
}
